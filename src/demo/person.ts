import type { Context } from '../core/context.ts'
import { randomText } from '../core/id.ts'
import { ensureOwner } from '../people/ensure-owner.ts'
import { hashPassword } from '../people/password.ts'

/** The person as whom the demo's visitor signs in to the console. */
export interface DemoPerson {
  readonly email: string
  readonly password: string
  readonly passwordHash: string
}

/** Creates a password for this run of the demo. */
export async function newDemoPerson(): Promise<DemoPerson> {
  const password = randomText(16)
  return { email: 'demo@allclear.example', password, passwordHash: await hashPassword(password) }
}

/** Ensures that the person exists, with the password of this run, as the operator and an owner of the organization. */
export function saveDemoPerson(
  ctx: Pick<Context, 'db' | 'now'>,
  { email, passwordHash }: DemoPerson,
  organizationId: string,
): Promise<void> {
  return ensureOwner(ctx, { email, name: 'Demo', passwordHash }, organizationId)
}
