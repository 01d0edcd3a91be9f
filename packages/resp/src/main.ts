import { runStage } from '@agentpipe/stage'
import { check } from './check.js'
import { commands } from './commands.js'
import { conform } from './conform.js'
import { dump } from './dump.js'
import { grep } from './grep.js'
import { json } from './json.js'
import { merge } from './merge.js'
import { stat } from './stat.js'
import { unjson } from './unjson.js'
import { write } from './write.js'

runStage({
  name: 'resp',
  purpose: 'write, read and check frames',
  verbs: { write, json, unjson, dump, grep, check, stat, merge, commands, conform },
  examples: ['resp write USER_INPUT "fix the failing test" | resp json', "printf '*1\\r\\n$3\\r\\nEND\\r\\n' | resp check"],
})
