/** Response of a route. */
export interface ServiceAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export const NO_CONTENT: ServiceAnswer = { status: 204, headers: {}, body: '' }

export function jsonAnswer(value: object): ServiceAnswer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) }
}
