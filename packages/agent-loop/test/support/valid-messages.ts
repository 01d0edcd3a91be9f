import type { RequestMessage, UserBlock } from '../../src/request-messages.js'

/** What is wrong with neutral messages, each fault as a line: nothing, for every conversation whatsoever. */
export function faultsOf(messages: readonly RequestMessage[]): string[] {
  const faults: string[] = []
  const ids = new Set<string>()
  if (messages[0]?.role !== 'user') faults.push('the first message is not the user’s')
  if (messages.at(-1)?.role !== 'user') faults.push('the last message is not the user’s')
  messages.forEach((message, at) => {
    const place = `message ${at}`
    if (message.role === messages[at - 1]?.role) faults.push(`${place}: the same role twice`)
    if (message.blocks.length === 0) faults.push(`${place}: no blocks`)
    for (const { kind, text } of message.blocks as readonly { kind: string; text?: string }[]) {
      if (kind === 'text' && !text?.trim()) faults.push(`${place}: blank text`)
    }
    if (!clean(message.blocks)) faults.push(`${place}: lone surrogate or NUL`)
    if (message.role === 'assistant') faults.push(...assistantFaults(message, ids).map((fault) => `${place}: ${fault}`))
    else faults.push(...resultFaults(message.blocks, messages[at - 1]).map((fault) => `${place}: ${fault}`))
  })
  return faults
}

function assistantFaults(message: Extract<RequestMessage, { role: 'assistant' }>, ids: Set<string>): string[] {
  const faults: string[] = []
  for (const block of message.blocks) {
    if (block.kind !== 'call') continue
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(block.id)) faults.push(`illegal id ${block.id}`)
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(block.name)) faults.push(`illegal name ${block.name}`)
    if (ids.has(block.id)) faults.push(`id ${block.id} twice`)
    ids.add(block.id)
    const input: unknown = JSON.parse(block.input)
    if (typeof input !== 'object' || input === null || Array.isArray(input)) faults.push('input is no object')
  }
  if (message.blocks.at(-1)?.kind === 'thinking') faults.push('ends in thinking')
  return faults
}

function resultFaults(blocks: readonly UserBlock[], before: RequestMessage | undefined): string[] {
  const calls = before?.role === 'assistant' ? before.blocks.flatMap((block) => (block.kind === 'call' ? [`${block.id} ${block.name}`] : [])) : []
  const first = blocks.slice(0, calls.length).map((block) => (block.kind === 'result' ? `${block.id} ${block.name}` : ''))
  const faults = first.join() === calls.join() ? [] : [`the results are ${first.join()}, the calls ${calls.join()}`]
  if (blocks.slice(calls.length).some(({ kind }) => kind === 'result')) faults.push('a result without a call')
  if (blocks.some((block) => block.kind === 'result' && !block.output.trim())) faults.push('a blank result')
  return faults
}

/** Whether no string in `value`, inputs of calls among them as objects, has a lone surrogate or a NUL. */
function clean(value: unknown): boolean {
  if (typeof value === 'string') return (value as string & { isWellFormed(): boolean }).isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, member]) => clean(key) && clean(key === 'input' && typeof member === 'string' ? JSON.parse(member) : member))
}
