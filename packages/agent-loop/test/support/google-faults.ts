type Loose = Readonly<Record<string, unknown>>

/** The signatures that the server has given: of calls by callKey, of texts by the text. */
export type Signatures = ReadonlyMap<string, string>

/** What tells one call of a model from another, whether it was given an id or not. */
export function callKey({ name, args }: Loose): string {
  return `call ${name} ${JSON.stringify(args ?? {})}`
}

/** What is wrong with a request for streamGenerateContent, nearly in the words of the API; undefined for nothing. As strict as for a model of Gemini 3. */
export function googleFault(body: string, signatures: Signatures): string | undefined {
  const request = JSON.parse(body)
  const faults = [
    ...unknownFaults(request),
    ...configFaults(request.generationConfig ?? {}),
    ...toolFaults(request.tools ?? []),
    ...contentFaults(request, signatures),
  ]
  return isClean(request) ? faults[0] : 'Invalid JSON payload received. Invalid unicode.'
}

function* unknownFaults(request: Loose, known = /^(contents|systemInstruction|tools|generationConfig)$/): Generator<string> {
  for (const name of Object.keys(request)) if (!known.test(name)) yield `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`
}

function* configFaults(config: Loose): Generator<string> {
  yield* unknownFaults(config, /^(temperature|maxOutputTokens|thinkingConfig)$/)
  const thinking = (config.thinkingConfig ?? {}) as Loose
  yield* unknownFaults(thinking, /^(includeThoughts|thinkingBudget|thinkingLevel)$/)
  if ('thinkingBudget' in thinking && 'thinkingLevel' in thinking) yield 'You can only set one of thinking budget and thinking level.'
}

function* toolFaults(tools: readonly Loose[]): Generator<string> {
  const names = new Set<unknown>()
  for (const declaration of tools.flatMap(({ functionDeclarations }) => functionDeclarations as Loose[])) {
    const { name, parametersJsonSchema: schema } = declaration
    yield* unknownFaults(declaration, /^(name|description|parametersJsonSchema)$/)
    if (!/^[A-Za-z_][\w.:-]{0,63}$/.test(String(name))) yield 'Invalid function name. Must start with a letter or an underscore.'
    if (names.has(name)) yield `Duplicate function declaration found: ${name}`
    names.add(name)
    if ((schema as Loose).type !== 'object') yield 'parametersJsonSchema: schema should be of type object'
  }
}

function* contentFaults({ contents, systemInstruction }: Loose, signatures: Signatures): Generator<string> {
  const list = contents as readonly { readonly role: string; readonly parts: readonly Loose[] }[]
  if (list[0]?.role !== 'user' || list.at(-1)?.role !== 'user') yield 'Please ensure that the conversation begins and ends with a user turn.'
  if (systemInstruction !== undefined) yield* partFaults((systemInstruction as { parts: Loose[] }).parts, 'system_instruction')
  let calls: readonly Loose[] = []
  for (const [at, { role, parts }] of list.entries()) {
    if (role !== (at % 2 === 0 ? 'user' : 'model')) yield 'Please ensure that multiturn requests alternate between user and model.'
    yield* partFaults(parts, `contents[${at}]`)
    yield* resultFaults(parts, calls)
    calls = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall as Loose]))
    if (role === 'model') yield* signatureFaults(parts, signatures, at)
  }
}

function* partFaults(parts: readonly Loose[], place: string): Generator<string> {
  if (parts.length === 0) yield `${place}.parts must not be empty.`
  for (const part of parts) {
    const { text, functionCall, functionResponse, inlineData } = part
    yield* unknownFaults(part, /^(text|functionCall|functionResponse|inlineData|thought|thoughtSignature)$/)
    if ([text, functionCall, functionResponse, inlineData].filter((each) => each !== undefined).length !== 1)
      yield `${place}: required oneof field 'data' must have one field`
    if (text !== undefined && String(text).trim() === '') yield `${place}: the text field is blank`
    const images = [inlineData, ...(((functionResponse as Loose)?.parts as Loose[] | undefined) ?? []).map((each) => each.inlineData)]
    for (const image of images as (Loose | undefined)[]) {
      if (image !== undefined && !/^image\/(png|jpeg|webp) [A-Za-z0-9+/]+=*$/.test(`${image.mimeType} ${image.data}`))
        yield `Unsupported MIME type: ${image.mimeType}`
    }
  }
}

function* resultFaults(parts: readonly Loose[], calls: readonly Loose[]): Generator<string> {
  const results = parts.flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse as Loose]))
  if (results.length > 0 && calls.length === 0) yield 'Please ensure that function response turn comes immediately after a function call turn.'
  if (results.length !== calls.length)
    yield 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
  for (const [at, { id, name, response }] of results.entries()) {
    if (id !== calls[at]?.id || name !== calls[at]?.name || parts[at]?.functionResponse === undefined) yield `function response ${at} belongs to another call`
    if (typeof response !== 'object' || Object.keys(response as Loose).join() !== ('error' in (response as Loose) ? 'error' : 'output'))
      yield 'response: expected an object'
  }
}

/** Each signature on the part on which it came, none on others; the first call of a message has one in any case. */
function* signatureFaults(parts: readonly Loose[], signatures: Signatures, at: number): Generator<string> {
  let called = false
  for (const { text, functionCall, thought, thoughtSignature: sent } of parts) {
    const call = functionCall as Loose | undefined
    const given = signatures.get(call === undefined ? `text ${text}` : callKey(call))
    if (given !== undefined && sent === undefined) yield `Function call is missing a thought_signature in functionCall parts. Position ${at}.`
    const placeholder = call !== undefined && !called && sent === 'skip_thought_signature_validator'
    if (sent !== given && !(given === undefined && placeholder)) yield 'Corrupted thought signature.'
    if (call !== undefined && !called && sent === undefined) yield `Function call is missing a thought_signature in functionCall parts. Position ${at}.`
    if (thought === true && sent === undefined) yield 'thought: only signed thoughts are taken'
    called ||= call !== undefined
  }
}

function isClean(value: unknown): boolean {
  if (typeof value === 'string') return (value as string & { isWellFormed(): boolean }).isWellFormed() && !value.includes('\0')
  return typeof value !== 'object' || value === null || Object.entries(value).every(([key, member]) => isClean(key) && isClean(member))
}
