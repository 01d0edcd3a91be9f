import type { CallToolResult, CompatibilityCallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import { imageType, LARGEST_IMAGE_BYTES } from './image-kind.js'
import { OutputCapture } from './output-capture.js'
import type { Session } from './session.js'
import type { Image, Outcome } from './tool.js'

/** What an MCP server answered, as a result: texts and what is said of other contents, one after the other, and the first image. */
export async function mcpOutcome(result: CallToolResult | CompatibilityCallToolResult, session: Session): Promise<Outcome> {
  const content = Array.isArray(result.content) ? (result.content as ContentBlock[]) : []
  const image = content.map(imageOf).find((each) => each !== undefined)
  const blocks = content.map((block) => textOf(block, image))
  if (blocks.length === 0 && 'toolResult' in result) blocks.push(JSON.stringify(result.toolResult))
  if (blocks.length === 0 && result.structuredContent !== undefined) blocks.push(JSON.stringify(result.structuredContent))
  const capture = new OutputCapture(session.maxOutput, () => session.temporary.path('output'))
  await capture.write(Buffer.from(blocks.join('\n')))
  const { text, fullOutput } = await capture.finish()
  const summary = blocks[0]?.split('\n', 1)[0] ?? ''
  return { status: result.isError === true ? 'error' : 'ok', output: text, summary, fullOutput, image }
}

/** An image in a form that models take; undefined for all else. */
function imageOf(block: ContentBlock): Image | undefined {
  if (block.type !== 'image') return undefined
  const bytes = Buffer.from(block.data, 'base64')
  const type = imageType(bytes.subarray(0, 12))
  return type === undefined || bytes.length > LARGEST_IMAGE_BYTES ? undefined : { data: bytes.toString('base64'), type }
}

function textOf(block: ContentBlock, shown: Image | undefined): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
      return imageOf(block)?.data === shown?.data && shown !== undefined ? `[${shown.type}]` : `[an image, ${block.mimeType}, that can't be shown here]`
    case 'audio':
      return `[audio, ${block.mimeType}, that can't be played here]`
    case 'resource_link':
      return `[${block.name}: ${block.uri}]${block.description ? ` ${block.description}` : ''}`
    case 'resource':
      return 'text' in block.resource
        ? `[${block.resource.uri}]\n${block.resource.text}`
        : `[${block.resource.uri}: ${block.resource.mimeType ?? 'bytes'}, not shown]`
    default:
      return JSON.stringify(block)
  }
}
