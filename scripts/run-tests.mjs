// run-tests FILE...: runs compiled test files, three at a time, each in a process of its own, and prints one TAP stream. As `tap run` does; but that
// puts a loader, by NODE_OPTIONS, into every Node that a test starts, however deep down, which costs each a quarter of a second. env(1) takes it out.
import t from 'tap'

const SECONDS_A_FILE = Number(process.env.SECONDS_A_FILE ?? 300)

t.jobs = 3
t.setTimeout(0)
process.env.TAP_TIMEOUT = String(SECONDS_A_FILE)
for (const file of process.argv.slice(2)) {
  t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, file], { name: file, timeout: SECONDS_A_FILE * 1000, buffered: true })
}
