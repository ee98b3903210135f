import type { Context } from '../core/context.ts'
import { newId, randomText } from '../core/id.ts'
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
export async function saveDemoPerson(
  { db, now }: Pick<Context, 'db' | 'now'>,
  { email, passwordHash }: DemoPerson,
  organizationId: string,
): Promise<void> {
  const createdAt = now()
  const { id: userId } = await db.user.upsert({
    where: { email },
    create: {
      id: newId('User'),
      email,
      name: 'Demo',
      passwordHash,
      emailProvenAt: createdAt,
      isOperator: true,
      createdAt,
    },
    update: { passwordHash },
  })
  await db.membership.createMany({ data: { organizationId, userId, role: 'OWNER', createdAt }, skipDuplicates: true })
}
