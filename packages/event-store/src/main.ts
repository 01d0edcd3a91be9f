import { runStage } from '@agentpipe/stage'
import { history } from './history.js'
import { list } from './list.js'
import { path } from './path.js'
import { recorder } from './recorder.js'
import { replay } from './replay.js'
import { verify } from './verify.js'

runStage({
  name: 'event-store',
  purpose: 'record the events of a pipeline, and read them back',
  main: recorder,
  verbs: { list, replay, history, path, verify },
  examples: ['resp write TEXT hello | event-store --session demo | resp json', 'event-store replay demo | resp json'],
})
