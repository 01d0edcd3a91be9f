import { runStage } from '@agentpipe/stage'
import { json } from './json.js'
import { write } from './write.js'

runStage({
  name: 'resp',
  purpose: 'write, read and check frames',
  verbs: { write, json },
  examples: ['resp write USER_INPUT "fix the failing test" | resp json', "printf '*1\\r\\n$3\\r\\nEND\\r\\n' | resp check"],
})
