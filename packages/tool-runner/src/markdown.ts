import { Worker } from 'node:worker_threads'
import { ToolError } from './tool-error.js'

const MEMORY_MB = 512

/** An HTML page as markdown, made in a thread of its own. Throws ToolError when `signal` says that it takes too long, or the page is more than can be converted. */
export async function markdownOf(html: string, url: string, signal: AbortSignal): Promise<string> {
  const worker = new Worker(new URL('./packages/markdown-worker.cjs', import.meta.url), {
    workerData: { html, url },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  let stop = () => {}
  try {
    return await new Promise<string>((resolve, reject) => {
      stop = () => reject(signal.reason)
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
      worker.once('message', resolve)
      worker.once('error', (error) => reject(new ToolError(`the page can't be converted: ${error.message}`)))
      worker.once('exit', () => reject(new ToolError("the page can't be converted")))
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
