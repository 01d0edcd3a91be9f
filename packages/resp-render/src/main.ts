import { runStage } from '@agentpipe/stage'
import { render } from './render.js'

runStage({
  name: 'resp-render',
  purpose: 'show frames as text on a terminal',
  main: render,
  examples: ['resp write TEXT "hello, terminal" | resp-render', 'resp write ERROR "no such file" | resp-render --color always'],
})
