// A member of a schedule in its own process.

import { Member, type MemberOptions, type TakeReport } from '../member.ts'
import type { ServerSide } from '../observed-backend.ts'
import type { PolicyName } from '../schedule.ts'

const UNHANDLED: string[] = []
process.on('unhandledRejection', (reason) => UNHANDLED.push(String(reason)))

let member: Member

export function open(options: MemberOptions): void {
  member = new Member(options)
}

export function take(policy: PolicyName, key: string, cost: number): Promise<TakeReport> {
  return member.take(policy, key, cost)
}

export function refund(id: number, units: number): Promise<boolean> {
  return member.refund(id, units)
}

export function reset(policy: PolicyName, key: string): Promise<boolean> {
  return member.reset(policy, key)
}

export function peek(policy: PolicyName, key: string): Promise<void> {
  return member.peek(policy, key)
}

export function tell(policy: PolicyName, key: string): Promise<boolean> {
  return member.tell(policy, key)
}

export function serverSide(id: number): ServerSide {
  return member.serverSide(id)
}

export async function close(): Promise<void> {
  await member.close()
  if (UNHANDLED.length > 0) throw new Error(`unhandled: ${UNHANDLED.join(', ')}`)
}
