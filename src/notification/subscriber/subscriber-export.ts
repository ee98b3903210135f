import { withPageSlug } from '../../account/views.ts'
import { requireScope } from '../../core/access.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { csvLine } from './csv.ts'
import type { SubscriberFilter } from './list-filter.ts'
import { subscriberState, subscribersMatching } from './list-filter.ts'

/** How many subscribers one statement reads. */
const BATCH = 500

const HEAD = ['email', 'channel', 'state', 'topics', 'services', 'created', 'confirmed', 'stopped', 'reason', 'page']

type Position = { readonly createdAt: Date; readonly id: string }

/**
 * Returns the subscribers that match a filter as CSV, oldest first. Yields parts, and reads on only as its reader does.
 * An import can read the CSV. Addresses of channels other than email are shortened, because anyone who knows them can
 * post there. Requires a key with scope READ.
 * @throws Invalid for an invalid filter.
 */
export function exportSubscribers(ctx: Context, filter: SubscriberFilter): AsyncGenerator<string, void> {
  const organizationId = requireScope(ctx, 'READ')
  return linesOf(ctx, { organizationId, ...subscribersMatching(filter) })
}

async function* linesOf({ db }: Context, where: Prisma.SubscriberWhereInput): AsyncGenerator<string, void> {
  yield csvLine(HEAD)
  const owner = {}
  let last: Position | null = null
  for (;;) {
    const rows = await readBatch(db, where, last)
    if (rows.length === 0) return
    await yieldAfterTimeSlice(owner)
    yield rows.map(lineOf).join('')
    last = rows.at(-1) ?? null
  }
}

function readBatch(db: Context['db'], where: Prisma.SubscriberWhereInput, last: Position | null) {
  const { createdAt, id } = last ?? {}
  const after = createdAt ? [{ OR: [{ createdAt: { gt: createdAt } }, { createdAt, id: { gt: id ?? '' } }] }] : []
  return db.subscriber.findMany({
    where: { AND: [where, ...after] },
    include: {
      services: { select: { service: { select: { name: true } } } },
      ...withPageSlug,
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: BATCH,
  })
}

type Row = Awaited<ReturnType<typeof readBatch>>[number]

function lineOf(row: Row): string {
  const { label, channel, topics, allServices, services, createdAt, confirmedAt, stoppedAt, stopReason } = row
  const chosen = allServices ? '' : services.map(({ service }) => service.name).join('; ')
  const times = [createdAt, confirmedAt, stoppedAt].map((at) => at?.toISOString() ?? '')
  const { slug } = row.page ?? row.organization
  return csvLine([label, channel, subscriberState(row), topics.join('; '), chosen, ...times, stopReason ?? '', slug])
}
