// What we need of the SDK, as one file that is read when the first server is connected to: it is larger than all that is ours.
export { Client } from '@modelcontextprotocol/sdk/client/index.js'
export { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
export { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
export { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
export { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
