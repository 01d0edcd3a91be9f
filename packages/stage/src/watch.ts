import { Socket } from 'node:net'

/**
 * Calls `gone` when the other end of AGENTPIPE_WATCH_FD is closed: who started the pipeline holds it, and has ended.
 * Does not keep the process alive. Children must not inherit the variable: it is removed from the environment.
 */
export function watchOwner(gone: () => void): void {
  const descriptor = Number(process.env.AGENTPIPE_WATCH_FD)
  delete process.env.AGENTPIPE_WATCH_FD
  if (!Number.isInteger(descriptor) || descriptor < 3) return
  try {
    const socket = new Socket({ fd: descriptor, readable: true, writable: false })
    socket.on('error', gone)
    socket.on('end', gone)
    socket.resume()
    socket.unref()
  } catch {
    // No such descriptor: a stage that was started by hand from within a pipeline.
  }
}
