export { fromJson, type JsonFrame, toJson, toJsonLine } from './json.js'
export { buildMessage, checkMessage, type Message, type MessageOf, messageFields, parseMessage } from './message.js'
export { type FieldSpec, type Kind, MESSAGES, type MessageSpec, type MessageType, messageSpec, type ValueType } from './table.js'
export { buildToolCall, parseObject, repeatedMembers } from './tool-call.js'
