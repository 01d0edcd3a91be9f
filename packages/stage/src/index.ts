export { BlockWriter } from './block-writer.js'
export { type Command, type Context, command, type FrameStage, type StageSpec } from './command.js'
export { configPath, readConfig } from './config.js'
export { closeDescriptor, descriptorKind, STDOUT } from './descriptors.js'
export { type Diagnose, pause, printable, writeStderr } from './diagnostics.js'
export { isLocked, lockDirectory } from './directory-lock.js'
export { EXIT, reason, StageError, systemError } from './exit-status.js'
export { eachFrame } from './frames.js'
export { type Input, type InputHandlers, readAll, readChunks, readInput } from './input.js'
export { Lines } from './lines.js'
export { withNamedOptions } from './named-options.js'
export { nearest } from './nearest.js'
export type { OptionSpec, OptionTable, OptionValues } from './option-table.js'
export { optionValue } from './option-value.js'
export { parseOptions, usage } from './options.js'
export { Output } from './output.js'
export { type Price, priceOf } from './prices.js'
export { killGroup } from './process-group.js'
export { type ProxyServer, proxyFor } from './proxy.js'
export { Reaper } from './reaper.js'
export { runStage } from './run-stage.js'
export {
  keptFilesDirectory,
  logPath,
  makeDirectory,
  projectDirectory,
  projectsDirectory,
  sessionsDirectory,
  stateDirectory,
  syncDirectories,
  workingDirectory,
} from './session-directory.js'
export { VERSION } from './version.js'
export { watchOwner } from './watch.js'
export { writeAll } from './write-all.js'
