import { z } from 'zod'
import { actorName } from '../../account/actor-name.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { Conflict } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { DAY } from '../../core/time.ts'
import { lineText, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Prisma, UptimeCorrection } from '../../generated/prisma/client.ts'
import { CorrectionKind } from '../../generated/prisma/enums.ts'
import { findOwned } from '../../status/ownership.ts'
import { MAX_WINDOW_DAYS } from './window.ts'

/** The maximum number of corrections of a service. */
const MAX_CORRECTIONS = 200
/** The maximum length of a reason, in characters. */
export const MAX_REASON = 300

/** The schema of a reason. */
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
 * Sets how a period of a service counts in objectives and reports, regardless of measurements. Later corrections take
 * precedence. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if the service has too many corrections.
 */
export async function correctUptime(ctx: ChangeContext, input: unknown): Promise<UptimeCorrection> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { serviceId, ...given } = validate(newCorrection, input)
  return change(ctx, organizationId, async (tx) => {
    const service = await findOwned('Service', serviceId, (id) =>
      tx.db.service.findUnique({ where: { id, organizationId } }),
    )
    if ((await tx.db.uptimeCorrection.count({ where: { serviceId } })) >= MAX_CORRECTIONS)
      throw new Conflict(`A service can have at most ${MAX_CORRECTIONS} corrections. Delete one first.`)
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

/** Deletes a correction, so that measurements count again. Requires a key with scope WRITE. @throws NotFound. */
export async function deleteUptimeCorrection(ctx: ChangeContext, id: string): Promise<UptimeCorrection> {
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

/** Returns the rows to page through: an organization's corrections with their services. */
export function pageableCorrections({ db }: Pick<Context, 'db'>, organizationId: string) {
  return {
    where: { organizationId },
    read: (slice: Omit<Prisma.UptimeCorrectionFindManyArgs, 'select' | 'include'>) =>
      db.uptimeCorrection.findMany({ ...slice, include: { service: true } }),
    count: (query: Prisma.UptimeCorrectionCountArgs) =>
      db.uptimeCorrection.count({ where: query.where, take: query.take }),
  }
}

/** Returns the newest corrections of a service. */
export function listCorrectionsOfService(
  { db }: Pick<Context, 'db'>,
  serviceId: string,
  limit: number,
): Promise<UptimeCorrection[]> {
  return db.uptimeCorrection.findMany({
    where: { serviceId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
  })
}
