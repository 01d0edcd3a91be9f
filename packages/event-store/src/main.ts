import { runStage } from '@agentpipe/stage'
import { exportSession } from './export.js'
import { follow } from './follow.js'
import { fork } from './fork.js'
import { history } from './history.js'
import { list } from './list.js'
import { path } from './path.js'
import { prune } from './prune.js'
import { recorder } from './recorder.js'
import { rm } from './remove.js'
import { replay } from './replay.js'
import { search } from './search.js'
import { stats } from './stats.js'
import { verify } from './verify.js'

runStage({
  name: 'event-store',
  purpose: 'record the events of a pipeline, and read them back',
  main: recorder,
  verbs: { list, replay, history, follow, search, export: exportSession, fork, stats, verify, prune, rm, path },
  examples: ['resp write TEXT hello | event-store --session demo | resp json', 'event-store replay demo | resp json'],
})
