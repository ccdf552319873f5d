type Item = Readonly<Record<string, unknown>>

export interface Reply {
  readonly status: number
  readonly output: Record<string, unknown>
}

/** Calls an operation of the server behind. */
export type Call = (operation: string, input: unknown) => Promise<Reply>

interface Put {
  readonly TableName: string
  readonly Item: Item
  readonly ConditionExpression?: string
}

interface TransactWriteItems {
  readonly TransactItems: readonly { readonly Put: Put }[]
  readonly ClientRequestToken?: string
}

const MOST_ITEMS = 100

/**
 * `TransactWriteItems` with `Put` actions on rows with the key `id`, as AWS documents it: all conditions hold, or nothing
 * is written and each action has a reason; a repeated token has no effect. The caller lets no other request in meanwhile.
 */
export class DynamoTransactions {
  /** Inputs of the transactions that were written, by their token. */
  readonly #written = new Map<string, string>()

  async write(input: TransactWriteItems, call: Call): Promise<Reply> {
    const { TransactItems: actions, ClientRequestToken: token = '' } = input
    const text = JSON.stringify(actions)
    const before = token === '' ? undefined : this.#written.get(token)
    if (before !== undefined)
      return before === text ? { status: 200, output: {} } : failure('IdempotentParameterMismatch')
    const places = actions.map(({ Put: { TableName, Item } }) => JSON.stringify([TableName, Item.id]))
    if (actions.length > MOST_ITEMS || new Set(places).size < places.length) return failure('Validation')
    const codes: string[] = []
    const undo: (() => Promise<Reply>)[] = []
    for (const { Put: put } of actions) {
      const Key = { id: put.Item.id }
      const { status, output } = await call('PutItem', { ...put, ReturnValues: 'ALL_OLD' })
      codes.push(status === 200 ? 'None' : codeOf(output))
      if (status === 200) undo.push(() => restored(put.TableName, Key, output.Attributes, call))
    }
    if (codes.every((code) => code === 'None')) {
      if (token !== '') this.#written.set(token, text)
      return { status: 200, output: {} }
    }
    for (const each of undo) await each()
    const reasons = codes.map((Code) => ({
      Code,
      ...(Code !== 'None' && { Message: 'The conditional request failed' }),
    }))
    return failure('TransactionCanceled', {
      Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
      CancellationReasons: reasons,
    })
  }
}

function restored(TableName: string, Key: Item, Item: unknown, call: Call): Promise<Reply> {
  return Item ? call('PutItem', { TableName, Item }) : call('DeleteItem', { TableName, Key })
}

function codeOf({ __type }: Record<string, unknown>): string {
  return String(__type).replace(/^.*#|Exception$/g, '')
}

function failure(name: string, more: Record<string, unknown> = { Message: name }): Reply {
  return { status: 400, output: { __type: `com.amazonaws.dynamodb.v20120810#${name}Exception`, ...more } }
}
