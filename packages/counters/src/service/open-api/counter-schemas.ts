/** A JSON Schema (draft 2020-12), or a part of an OpenAPI document. */
export type OpenApiPart = Readonly<Record<string, unknown>>

const VALUE: OpenApiPart = {
  type: 'integer',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}
const ID: OpenApiPart = { type: 'string', minLength: 1, maxLength: 256, description: '1 to 256 bytes of UTF-8.' }
const DURABLE: OpenApiPart = { const: true, description: 'No crash of any part can undo it.' }
const STATUS: OpenApiPart = {
  enum: ['ok', 'duplicate'],
  description: 'duplicate: the token of the request had counted the same before, and nothing was counted now.',
}
const DOWN: OpenApiPart = {
  type: 'array',
  items: { type: 'string' },
  description: 'Nodes that give no answer: what they counted and have not flushed is missing here.',
}

/** What the answers and bodies of the service are made of. */
export const counterSchemas: Readonly<Record<string, OpenApiPart>> = {
  Value: VALUE,
  Id: ID,
  Increment: closed(
    { delta: { ...VALUE, default: 1 }, durable: { type: 'boolean', default: false } },
    { required: [], description: 'durable: answer when it is durable, and not before.' },
  ),
  Batch: closed(
    {
      deltas: {
        oneOf: [
          { type: 'object', additionalProperties: ref('Value') },
          { type: 'array', items: pairOf(ref('Id'), ref('Value')) },
        ],
        description: 'By id, or pairs of id and delta; several of one id add up. At most 10,000 ids.',
      },
      durable: { type: 'boolean', default: false },
    },
    { required: ['deltas'] },
  ),
  Receipt: closed({ value: ref('Value'), status: STATUS, durable: DURABLE }, { required: ['value', 'status'] }),
  BatchReceipt: closed(
    { values: { type: 'object', additionalProperties: ref('Value') }, status: STATUS, durable: DURABLE },
    { required: ['values', 'status'] },
  ),
  Reading: closed({
    id: ref('Id'),
    value: ref('Value'),
    version: { type: 'integer', minimum: 0, description: 'Grows whenever the value was written; 0 until then.' },
    updatedAt: { type: ['number', 'null'], description: 'Epoch ms; null until it is first written.' },
  }),
  ReadingList: closed(
    {
      counters: { type: 'array', items: ref('Reading') },
      next: {
        type: ['string', 'null'],
        description: 'What to ask for by `after`; null where there are no more. The page after it may be empty.',
      },
      down: DOWN,
    },
    { required: ['counters', 'next'] },
  ),
  Aggregate: closed(
    { prefix: { type: 'string' }, sum: { type: 'number' }, down: DOWN },
    { required: ['prefix', 'sum'] },
  ),
  Health: closed({ status: { const: 'ok' } }),
  Problem: {
    type: 'object',
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      code: { type: 'string', pattern: '^(SLUICE_[A-Z_]+|[a-z][a-z-]*)$' },
      detail: { type: 'string' },
      'violated-policies': { type: 'array', items: { type: 'string' } },
    },
    required: ['type', 'title', 'status', 'code'],
    additionalProperties: false,
  },
}

export function ref(name: string): OpenApiPart {
  return { $ref: `#/components/schemas/${name}` }
}

function pairOf(first: OpenApiPart, second: OpenApiPart): OpenApiPart {
  return { type: 'array', prefixItems: [first, second], items: false, minItems: 2 }
}

/** An object of these properties alone, all of them required unless `required` says which. */
function closed(properties: Readonly<Record<string, OpenApiPart>>, more: OpenApiPart = {}): OpenApiPart {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false, ...more }
}
