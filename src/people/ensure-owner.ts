import type { Context } from '../core/context.ts'
import { newId } from '../core/id.ts'

/**
 * Ensures that a person exists, with this password, as the operator and an owner of an organization. For the demo: an
 * organization's log does not mention it.
 */
export async function ensureOwner(
  { db, now }: Pick<Context, 'db' | 'now'>,
  { email, name, passwordHash }: { readonly email: string; readonly name: string; readonly passwordHash: string },
  organizationId: string,
): Promise<void> {
  const createdAt = now()
  const { id: userId } = await db.user.upsert({
    where: { email },
    create: { id: newId('User'), email, name, passwordHash, emailProvenAt: createdAt, isOperator: true, createdAt },
    update: { passwordHash },
  })
  await db.membership.createMany({ data: { organizationId, userId, role: 'OWNER', createdAt }, skipDuplicates: true })
}
