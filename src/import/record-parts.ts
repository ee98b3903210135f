import type { Installation } from './installation.ts'
import type { RecordResult } from './records.ts'
import { sourceNames } from './source-names.ts'
import type { DayCounts, History, Objects, Records, SourceSubscriber } from './translation.ts'

/** The number of days per request, small enough not to block the event loop. */
const DAYS_PER_REQUEST = 3000
/** The number of characters of other records per request, which may have 128 kB. */
const CHARACTERS_PER_REQUEST = 60_000
const RECORDS_PER_REQUEST = 100
const SERIES_PER_REQUEST = 50
const SUBSCRIBERS_PER_REQUEST = 1000

/** A part of the records of a source, as input of `importRecords`. */
export interface RecordsPart {
  readonly source: string
  readonly name: string
  readonly dryRun: boolean
  readonly histories?: readonly ({ readonly key: string } & DayCounts)[]
  readonly incidents?: readonly unknown[]
  readonly maintenances?: readonly unknown[]
  readonly series?: readonly unknown[]
  readonly subscribers?: readonly SourceSubscriber[]
}

/** Records, with the names of imported services. */
export interface NamedRecords extends Omit<Records, 'histories'> {
  readonly histories: readonly (History & { readonly name: string })[]
}

/** Leaves out the histories of services that are not imported. The import drops such services from other records. */
export function recordsOf({ histories, ...records }: Records, { services }: Objects): NamedRecords {
  return {
    ...records,
    histories: histories.flatMap((history) => {
      const fields = services.get(history.key)
      return fields === undefined ? [] : [{ ...history, name: String(fields['name'] ?? history.key) }]
    }),
  }
}

type Content = Omit<RecordsPart, 'source' | 'name' | 'dryRun'>
type Send = (part: RecordsPart) => Promise<readonly RecordResult[]>

/** Sends records in parts. Returns the outcomes of all records. @param send imports a part. */
export async function sendRecords(
  { histories, ...records }: NamedRecords,
  { installation, dryRun }: { readonly installation: Installation; readonly dryRun: boolean },
  send: Send,
): Promise<RecordResult[]> {
  const { source, name } = installation
  const sendPart = (content: Content) => send({ source: sourceNames[source], name, dryRun, ...content })
  const days = histories.map(({ key, days: json }) => ({ key, ...(JSON.parse(json) as DayCounts) }))
  const results: RecordResult[] = []
  let sent = 0
  for (const part of partsOf(days, DAYS_PER_REQUEST, 500, ({ up }) => up.length)) {
    for (const result of await sendPart({ histories: part })) {
      results.push({ ...result, name: histories[sent]?.name ?? result.name })
      sent += 1
    }
  }
  const fields = [
    ['incidents', RECORDS_PER_REQUEST],
    ['maintenances', RECORDS_PER_REQUEST],
    ['series', SERIES_PER_REQUEST],
  ] as const
  for (const [field, most] of fields) {
    for (const part of partsOf(records[field], CHARACTERS_PER_REQUEST, most, ({ json }) => Buffer.byteLength(json)))
      results.push(...(await sendPart({ [field]: part.map(({ json }) => JSON.parse(json) as unknown) })))
  }
  const size = ({ address, services }: SourceSubscriber) => address.length + services.join().length + 40
  for (const subscribers of partsOf(records.subscribers, CHARACTERS_PER_REQUEST, SUBSCRIBERS_PER_REQUEST, size))
    results.push(...(await sendPart({ subscribers })))
  return results
}

/** Splits a list into parts with limits on items and total size. An item over the size limit gets its own part. */
function* partsOf<T>(
  all: readonly T[],
  mostSize: number,
  mostItems: number,
  sizeOf: (each: T) => number,
): Generator<T[]> {
  let part: T[] = []
  let size = 0
  for (const each of all) {
    const own = sizeOf(each)
    if (part.length > 0 && (size + own > mostSize || part.length >= mostItems)) {
      yield part
      part = []
      size = 0
    }
    part.push(each)
    size += own
  }
  if (part.length > 0) yield part
}
