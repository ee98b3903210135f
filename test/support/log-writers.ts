import type { Context } from '../../src/core/context.ts'
import { transaction } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import { appendEvents } from '../../src/event-log/event.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { noon } from './context.ts'

/** An organization with an empty log. */
export async function newTenant(db: PrismaClient): Promise<string> {
  const id = newId('Organization')
  await db.organization.create({
    data: { id, slug: id.slice(4), name: 'Acme', contactEmail: 'ops@acme.example', createdAt: noon },
  })
  return id
}

/** Appends one event about each subject, each in a transaction with another change, one after another. */
export async function appendEach(ctx: Context, organizationId: string, subjects: readonly string[]): Promise<void> {
  for (const subjectId of subjects) {
    await transaction(ctx, async (tx) => {
      await tx.db.organization.update({ where: { id: organizationId }, data: { name: subjectId } })
      await appendEvents(tx, organizationId, [{ kind: 'SERVICE_UPDATED', subjectId, subjectName: subjectId }])
    })
  }
}

/** Appends from many writers at once, each its subjects `{name}-{writer}-{number}`; reports each after its commit. */
export async function writeAtOnce(
  ctx: Context,
  organizationId: string,
  options: { readonly name: string; readonly writers: number; readonly each: number; reported?(subject: string): void },
): Promise<void> {
  const { name, writers, each, reported } = options
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let number = 0; number < each; number++) {
        const subject = `${name}-${writer}-${number}`
        await appendEach(ctx, organizationId, [subject])
        reported?.(subject)
      }
    }),
  )
}
