/** Part of a JSON Schema. `expected` describes the valid values in messages. */
export interface SchemaPart {
  readonly expected?: string
  readonly [keyword: string]: unknown
}

const NAME_PATTERN = '^[\\x21-\\x7e]{1,128}$'
const MAX_UNITS = 999_999_999_999_999

const name: SchemaPart = {
  type: 'string',
  pattern: NAME_PATTERN,
  expected: 'up to 128 printable ASCII characters without spaces',
}
const units: SchemaPart = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_UNITS,
  expected: 'an integer from 1 to 999,999,999,999,999',
}
const failedStatus: SchemaPart = { type: 'integer', minimum: 400, maximum: 599 }
const duration: SchemaPart = {
  type: 'string',
  pattern: '^[0-9]+(ms|s|m|h|d|w)$',
  expected: 'a duration such as 500ms, 10s, 1m, 1h, 1d or 1w',
}
const attribute: SchemaPart = { type: ['string', 'number', 'boolean'], expected: 'a text, a number, true or false' }
const keyPart: SchemaPart = { type: 'string', minLength: 1, expected: 'a key' }
const overriddenKey: SchemaPart = {
  anyOf: [keyPart, { type: 'array', items: keyPart, minItems: 1, maxItems: 8 }],
  expected: 'a key, or a list of the values of its attributes',
}
const list: SchemaPart = {
  anyOf: [
    { type: 'array', items: { type: 'string', minLength: 1, expected: 'an address, a range or a key' } },
    object({ file: { type: 'string', minLength: 1, expected: 'the path of a file' } }, ['file']),
  ],
  expected: 'a list of addresses, ranges and keys, or { file: path }',
}

function object(properties: Readonly<Record<string, SchemaPart>>, required: readonly string[] = []): SchemaPart {
  return { type: 'object', additionalProperties: false, required, properties, expected: 'a map of fields' }
}

function mapOf(values: SchemaPart, expected: string): SchemaPart {
  return { type: 'object', minProperties: 1, additionalProperties: values, expected }
}

function arrayOf(items: SchemaPart, expected: string): SchemaPart {
  return { type: 'array', items, expected }
}

const policy = object(
  {
    name,
    match: mapOf(
      { anyOf: [attribute, { type: 'array', items: attribute, minItems: 1 }], expected: 'a value or a list of values' },
      'attributes with their values',
    ),
    when: { type: 'string', minLength: 1, expected: 'a condition in CEL' },
    key: {
      anyOf: [name, { type: 'array', items: name, minItems: 1, maxItems: 8 }],
      expected: 'the name of an attribute, or a list of up to 8 of them',
    },
    unit: { type: 'string', minLength: 1, maxLength: 64, expected: 'the name of a unit' },
    limit: {
      anyOf: [units, mapOf(units, 'limits by plan')],
      expected: 'an integer from 1 to 999,999,999,999,999, or limits by plan',
    },
    per: duration,
    algorithm: {
      enum: ['sliding-log', 'sliding-window', 'fixed-window', 'token-bucket', 'gcra'],
      expected: 'sliding-log, sliding-window, fixed-window, token-bucket or gcra',
    },
    burst: units,
    slices: { type: 'integer', minimum: 1, maximum: 60, expected: 'an integer from 1 to 60' },
    retry: { enum: ['booked'], expected: 'booked' },
    cost: {
      anyOf: [units, object({ reserve: units, settle: name }, ['reserve', 'settle'])],
      expected: 'an integer from 1, or { reserve, settle }',
    },
    ban: object(
      {
        after: units,
        within: duration,
        for: duration,
        growth: { type: 'number', minimum: 1, expected: 'a number of at least 1' },
        max: duration,
        forget: duration,
        strikes: {
          anyOf: [
            { enum: ['denials', 'failures'] },
            { type: 'array', items: failedStatus, minItems: 1, maxItems: 200 },
          ],
          expected: 'denials, failures or a list of statuses from 400 to 599',
        },
        forgiveOn: { enum: ['success'], expected: 'success' },
        extend: { type: 'boolean', expected: 'true or false' },
      },
      ['after', 'within', 'for'],
    ),
    mode: { enum: ['enforce', 'shadow', 'off'], expected: 'enforce, shadow or off' },
    rollout: {
      type: 'string',
      pattern: '^(100|[0-9]{1,2}(\\.[0-9]{1,3})?)%$',
      expected: 'a share from 0% to 100%, such as 25%',
    },
    replaces: arrayOf(name, 'a list of names of policies'),
  },
  ['name', 'limit', 'per'],
)

/** JSON Schema of policy files. */
export const policySchema: SchemaPart = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://unpkg.com/@sluice/policies/policies.schema.json',
  title: 'Policies of Sluice',
  ...object(
    {
      version: { const: 1, expected: '1' },
      policies: { ...arrayOf(policy, 'a list of policies'), minItems: 1 },
      overrides: arrayOf(
        object({ policy: name, key: overriddenKey, limit: units }, ['policy', 'key', 'limit']),
        'a list of overrides',
      ),
      lists: object({ allow: list, block: list }),
    },
    ['version', 'policies'],
  ),
}
