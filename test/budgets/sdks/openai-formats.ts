import { MODEL, type ProviderCall, textOf } from '../runs/fake-model.ts'

/** What a model does with a request: writes or thinks so many tokens, or calls a tool. */
export type Turn = { readonly writes: number } | { readonly thinks: number } | ToolTurn

interface ToolTurn {
  readonly tool: string
  readonly args: object
}

/** An answer that is being written. `call.output` is what was sent so far. */
export interface Answer {
  readonly id: string
  readonly turn: Turn
  readonly call: ProviderCall
  /** Most tokens of the answer. */
  readonly most: number
  /** Returns the number of tokens of the next part. */
  readonly size: () => number
}

type Json = Readonly<Record<string, unknown>>

/** A complete answer of `/chat/completions`. */
export function chatJson(answer: Answer): Json {
  const { id, turn, call } = answer
  const text = [...writtenParts(answer)].join('')
  const parts =
    'tool' in turn ? { tool_calls: [{ id, type: 'function', function: { name: turn.tool, arguments: text } }] } : {}
  const message = { role: 'assistant', content: 'writes' in turn ? text : null, ...parts }
  const choices = [{ index: 0, message, finish_reason: finishOf(turn) }]
  return { ...head(answer, 'chat.completion'), choices, usage: chatUsage(call) }
}

/** The events of an answer of `/chat/completions`. */
export function* chatChunks(answer: Answer): Generator<string, void> {
  const { id, turn, call } = answer
  const chunk = (delta: Json, finish_reason: string | null = null): string =>
    event({ ...head(answer, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason }] })
  yield chunk({ role: 'assistant', content: '' })
  if ('tool' in turn) {
    yield chunk({ tool_calls: [{ index: 0, id, type: 'function', function: { name: turn.tool, arguments: '' } }] })
  }
  for (const part of writtenParts(answer)) {
    if ('tool' in turn) yield chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] })
    else yield chunk('thinks' in turn ? { reasoning: part } : { content: part })
  }
  yield chunk({}, finishOf(turn))
  yield event({ ...head(answer, 'chat.completion.chunk'), choices: [], usage: chatUsage(call) })
  yield 'data: [DONE]\n\n'
}

/** A complete answer of `/responses`. */
export function responsesJson(answer: Answer): Json {
  return completed(answer, [...writtenParts(answer)].join(''))
}

/** The events of an answer of `/responses`. */
export function* responsesEvents(answer: Answer): Generator<string, void> {
  const { id, turn } = answer
  const content_index = 'tool' in turn ? undefined : 0
  const kind = 'tool' in turn ? 'function_call_arguments' : 'thinks' in turn ? 'reasoning_text' : 'output_text'
  let sequence_number = 0
  const send = (type: string, more: Json): string => event({ type, sequence_number: sequence_number++, ...more })
  yield send('response.created', { response: { ...head(answer, 'response'), status: 'in_progress', output: [] } })
  let text = ''
  for (const delta of writtenParts(answer)) {
    text += delta
    yield send(`response.${kind}.delta`, { item_id: id, output_index: 0, content_index, delta })
  }
  yield send('response.completed', { response: completed(answer, text) })
}

function completed(answer: Answer, text: string): Json {
  const { id, call } = answer
  const usage = {
    input_tokens: call.input,
    output_tokens: call.output,
    total_tokens: call.input + call.output,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  }
  const output = [{ id, status: 'completed', ...itemOf(answer, text) }]
  return { ...head(answer, 'response'), status: 'completed', output, usage }
}

function itemOf({ id, turn }: Answer, text: string): Json {
  if ('tool' in turn) return { type: 'function_call', call_id: id, name: turn.tool, arguments: text }
  if ('thinks' in turn) return { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] }
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }
}

/** Charges and returns the parts of a text, or of the arguments of a tool. */
function* writtenParts({ turn, call, most, size }: Answer): Generator<string, void> {
  let rest =
    'tool' in turn ? JSON.stringify(turn.args) : textOf(Math.min('writes' in turn ? turn.writes : turn.thinks, most))
  while (rest !== '') {
    const part = rest.slice(0, textOf(size()).length)
    rest = rest.slice(part.length)
    call.output += Math.ceil(part.length / textOf(1).length)
    yield part
  }
}

function finishOf(turn: Turn): string {
  return 'tool' in turn ? 'tool_calls' : 'stop'
}

function head({ id }: Answer, object: string): Json {
  return { id, object, created: 0, created_at: 0, model: MODEL }
}

function chatUsage({ input, output }: ProviderCall): Json {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

function event(data: Json): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
