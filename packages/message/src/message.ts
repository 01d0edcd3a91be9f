import { encodeFrame, type FieldValue, type Frame, FrameError } from '@agentpipe/frame'
import { type Messages, type MessageType, messageSpec } from './table.js'

type Names<Fields> = Fields extends readonly { readonly name: infer Name extends string }[] ? Fields[number]['name'] & Name : never
type Positional<Type extends MessageType> = { readonly [Name in Names<Messages[Type]['fields']>]: string }
type Attribute<Type extends MessageType> = Names<Messages[Type]['attributes']>

/** A message of one type, its fields decoded as UTF-8. `attributes` holds the declared ones that are there. */
export type MessageOf<Type extends MessageType> = Positional<Type> & {
  readonly type: Type
  readonly attributes: { readonly [Name in Attribute<Type>]?: string }
}

/** Any message that we know, to switch over by `type`. */
export type Message = { [Type in MessageType]: MessageOf<Type> }[MessageType]

/**
 * A frame as a message; undefined for a type that we don't know.
 *
 * Of an attribute that is there twice the first counts. Undeclared attributes are left out here; they stand in the frame.
 * Throws FrameError (with the frame's offset) when a known type has too few fields.
 */
export function parseMessage(frame: Frame): Message | undefined {
  const spec = messageSpec(frame.type)
  if (spec === undefined) return undefined
  checkMessage(frame)
  const message: Record<string, unknown> = { type: frame.type }
  spec.fields.forEach(({ name }, index) => {
    message[name] = frame.text(index + 1)
  })
  const attributes: Record<string, string> = {}
  // A HISTORY frame's rest is another frame's fields.
  if (spec.attributes.length > 0) {
    const declared = new Set(spec.attributes.map(({ name }) => name))
    for (let index = spec.fields.length + 1; index + 1 < frame.count; index += 2) {
      const key = frame.text(index) as string
      if (declared.has(key) && !Object.hasOwn(attributes, key)) attributes[key] = frame.text(index + 1) as string
    }
  }
  message.attributes = attributes
  return message as Message
}

/** Throws FrameError when the frame is of a known type and has too few positional fields. */
export function checkMessage(frame: Frame): void {
  const spec = messageSpec(frame.type)
  if (spec === undefined || frame.count > spec.fields.length) return
  const names = spec.fields.map(({ name }) => name).join(', ')
  throw new FrameError(frame.offset, `${frame.type} with ${spec.fields.length} fields (${names})`, `${frame.count - 1}`)
}

type Values<Fields extends readonly unknown[]> = { readonly [Index in keyof Fields]: FieldValue }
type AttributeValues<Type extends MessageType> = { readonly [Name in Attribute<Type>]?: FieldValue | number | undefined }

/**
 * A message as a frame's bytes: its positional fields in order, then the attributes that are not undefined, in the
 * table's order. Throws RangeError past the limits of a frame.
 */
export function buildMessage<Type extends MessageType>(type: Type, fields: Values<Messages[Type]['fields']>, attributes: AttributeValues<Type> = {}): Buffer {
  return encodeFrame(messageFields(type, fields, attributes))
}

/** The same as a list of fields, for who adds to it. */
export function messageFields<Type extends MessageType>(
  type: Type,
  fields: Values<Messages[Type]['fields']>,
  attributes: AttributeValues<Type> = {},
): FieldValue[] {
  const all: FieldValue[] = [type, ...(fields as readonly FieldValue[])]
  for (const { name } of messageSpec(type)?.attributes ?? []) {
    const value = (attributes as Record<string, FieldValue | number | undefined>)[name]
    if (value !== undefined) all.push(name, typeof value === 'number' ? String(value) : value)
  }
  return all
}
