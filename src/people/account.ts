import { z } from 'zod'
import { requireConfirmation } from '../core/access.ts'
import { transaction } from '../core/context.ts'
import { invalid, nameText, validate } from '../core/validation.ts'
import type { User } from '../generated/prisma/client.ts'
import { lockOwnAccount } from './account-access.ts'
import { limitAttempts } from './attempt-limit.ts'
import type { PeopleContext } from './context.ts'
import { ownSession } from './known-device.ts'
import { hashPassword, newPassword, verifyPassword } from './password.ts'
import { confirmSession, requireUser, revokeOtherSessions } from './session.ts'

const renaming = z.object({ name: nameText })

/** Renames the signed-in person. @throws Invalid for an invalid name. */
export async function renameUser(ctx: PeopleContext, input: unknown): Promise<User> {
  const { userId: id } = requireUser(ctx)
  const { name } = validate(renaming, input)
  return ctx.db.user.update({ where: { id }, data: { name } })
}

/** Returns whether the signed-in person has a password. */
export async function hasPassword(ctx: PeopleContext): Promise<boolean> {
  const where = { id: requireUser(ctx).userId }
  return (await ctx.db.user.findUniqueOrThrow({ where, select: { passwordHash: true } })).passwordHash !== null
}

const passwordChange = z.object({ currentPassword: z.string().default(''), password: newPassword })

/**
 * Changes the password of the signed-in person and ends their other sessions. A person without a password must have confirmed
 * their identity instead of entering the current password.
 * @throws Invalid for a wrong current password, or an invalid new one. @throws RateLimited after too many wrong ones.
 */
export async function changePassword(ctx: PeopleContext, input: unknown): Promise<void> {
  const { userId: id } = requireUser(ctx)
  const { currentPassword, password } = validate(passwordChange, input)
  const { email, passwordHash: current } = await ctx.db.user.findUniqueOrThrow({ where: { id } })
  if (current === null) requireConfirmation(ctx)
  else {
    const isRight = await limitAttempts(ctx, { account: email, browser: ownSession(ctx) }, async () =>
      (await verifyPassword(currentPassword, current, ctx.clientAddress)) ? true : null,
    )
    if (!isRight) throw invalid([{ path: ['currentPassword'], message: 'is wrong' }])
  }
  const passwordHash = await hashPassword(password, ctx.clientAddress)
  await transaction(ctx, async (tx) => {
    await lockOwnAccount(tx)
    await tx.db.user.update({ where: { id }, data: { passwordHash } })
    await tx.db.oneTimeToken.deleteMany({ where: { userId: id } })
    await revokeOtherSessions(tx)
  })
  if (current !== null) await confirmSession(ctx)
}
