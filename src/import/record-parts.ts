import type { RecordResult } from './records.ts'
import { type Source, sourceNames } from './source-names.ts'
import type { DayCounts, History, Objects, Records } from './translation.ts'

/** How many days are imported with one request: its body and its transaction stay small. */
const DAYS_PER_REQUEST = 8000

/** A part of the records of a source, as `importRecords` takes it. */
export interface RecordsPart {
  readonly source: string
  readonly dryRun: boolean
  readonly histories: readonly ({ readonly key: string } & DayCounts)[]
}

/** Records of what comes along, with the names that they get. */
export interface NamedRecords {
  readonly histories: readonly (History & { readonly name: string })[]
}

/** Returns the records of services that come along. */
export function recordsOf({ histories }: Records, { services }: Objects): NamedRecords {
  return {
    histories: histories.flatMap((history) => {
      const members = services.get(history.key)
      return members === undefined ? [] : [{ ...history, name: String(members['name'] ?? history.key) }]
    }),
  }
}

/** Imports records in parts. Returns what becomes of each. @param send imports a part. */
export async function sendRecords(
  { histories }: NamedRecords,
  { source, dryRun }: { readonly source: Source; readonly dryRun: boolean },
  send: (part: RecordsPart) => Promise<readonly RecordResult[]>,
): Promise<RecordResult[]> {
  const results: RecordResult[] = []
  let part: RecordsPart['histories'][number][] = []
  let size = 0
  const flush = async () => {
    if (part.length > 0) results.push(...(await send({ source: sourceNames[source], dryRun, histories: part })))
    part = []
    size = 0
  }
  for (const { key, days } of histories) {
    // The translation wrote it.
    const counts = JSON.parse(days) as DayCounts
    if (size + counts.up.length > DAYS_PER_REQUEST) await flush()
    part.push({ key, ...counts })
    size += counts.up.length
  }
  await flush()
  return results.map((result, index) => ({ ...result, name: histories[index]?.name ?? result.name }))
}
