import { z } from 'zod'
import { actorName } from '../../account/actor-name.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { Conflict } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { DAY } from '../../core/time.ts'
import { lineText, validate } from '../../core/validation.ts'
import { change } from '../../event-log/change.ts'
import type { UptimeCorrection } from '../../generated/prisma/client.ts'
import { CorrectionKind } from '../../generated/prisma/enums.ts'
import { findOwned } from '../../status/ownership.ts'
import { MAX_WINDOW_DAYS } from './window.ts'

/** Corrections of a service. */
const MAX_CORRECTIONS = 200
/** The length of a reason, in characters. */
export const MAX_REASON = 300

/** Why a correction was made. */
export const reasonText = lineText(MAX_REASON)

const newCorrection = z
  .object({
    serviceId: z.string(),
    startsAt: z.date(),
    endsAt: z.date(),
    kind: z.enum(CorrectionKind),
    reason: reasonText,
  })
  .refine(({ startsAt, endsAt }) => startsAt < endsAt, { message: 'must be after the start', path: ['endsAt'] })
  .refine(({ startsAt, endsAt }) => +endsAt - +startsAt <= MAX_WINDOW_DAYS * DAY, {
    message: `must be at most ${MAX_WINDOW_DAYS} days after the start`,
    path: ['endsAt'],
  })

/**
 * Says what a time of a service counts as in objectives and reports, whatever was measured. What was said later holds. Needs a key with
 * scope WRITE.
 * @throws Invalid, NotFound, and Conflict when the service has as many as it may have.
 */
export async function correctUptime(ctx: Context, input: unknown): Promise<UptimeCorrection> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { serviceId, ...given } = validate(newCorrection, input)
  return change(ctx, organizationId, async (tx) => {
    const service = await findOwned('Service', serviceId, (id) =>
      tx.db.service.findUnique({ where: { id, organizationId } }),
    )
    if ((await tx.db.uptimeCorrection.count({ where: { serviceId } })) >= MAX_CORRECTIONS)
      throw new Conflict(`A service has at most ${MAX_CORRECTIONS} corrections. Delete one first.`)
    const correction = await tx.db.uptimeCorrection.create({
      data: {
        ...given,
        id: newId('UptimeCorrection'),
        organizationId,
        serviceId,
        author: await actorName(tx),
        createdAt: tx.now(),
      },
    })
    return [correction, { kind: 'UPTIME_CORRECTED', subjectId: correction.id, subjectName: service.name }]
  })
}

/** Deletes a correction: what was measured counts again. Needs a key with scope WRITE. @throws NotFound. */
export async function deleteUptimeCorrection(ctx: Context, id: string): Promise<UptimeCorrection> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { service, ...correction } = await ownCorrection(tx, organizationId, id)
    await tx.db.uptimeCorrection.delete({ where: { id } })
    return [correction, { kind: 'UPTIME_CORRECTION_DELETED', subjectId: id, subjectName: service.name }]
  })
}

/** Reads a correction of an organization with its service. @throws NotFound. */
export function ownCorrection({ db }: Pick<Context, 'db'>, organizationId: string, id: string) {
  return findOwned('UptimeCorrection', id, (known) =>
    db.uptimeCorrection.findUnique({ where: { id: known, organizationId }, include: { service: true } }),
  )
}
