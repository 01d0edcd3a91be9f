import { setTimeout as sleep } from 'node:timers/promises'

/** Asks `check` until it gives something other than undefined or false; gives the last answer when the time is over. */
export async function eventually<T>(check: () => T | Promise<T>, milliseconds = 5000): Promise<T> {
  const end = Date.now() + milliseconds
  for (;;) {
    const answer = await check()
    if (answer || Date.now() > end) return answer
    await sleep(20)
  }
}
