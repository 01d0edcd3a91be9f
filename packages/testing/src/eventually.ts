import { setTimeout as sleep } from 'node:timers/promises'

/** Asking costs something, and what takes long may be noticed a little later: the longer it has taken, the longer the pause until it is asked again. */
const [SHORTEST_MS, LONGEST_MS, SHARE] = [20, 200, 0.2]

/** Asks `check` until it gives something other than undefined or false; gives the last answer when the time is over. */
export async function eventually<T>(check: () => T | Promise<T>, milliseconds = 20_000): Promise<T> {
  const begin = Date.now()
  for (;;) {
    const answer = await check()
    const passed = Date.now() - begin
    if (answer || passed > milliseconds) return answer
    await sleep(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, passed * SHARE)))
  }
}
