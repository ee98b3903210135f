import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Installation } from './installation.ts'
import type { NamedRecords } from './record-parts.ts'

/** A value for `${NAME}`. */
export interface Variable {
  readonly name: string
  readonly value: string
}

/** The state between a dry run and the import, which the person's form keeps sealed. */
export interface Prepared {
  readonly installation: Installation
  readonly yaml: string
  readonly variables: readonly Variable[]
  readonly planHash: string
  readonly pausedMonitors: readonly string[]
  readonly records: NamedRecords
}

/**
 * Writes what was prepared as lines of JSON: everything but the records, then each record with the name of its list.
 * Yields the event loop between records: all of them have up to 8 MB, which take several time slices.
 */
export async function linesOf({ records, ...prepared }: Prepared): Promise<string> {
  const owner = {}
  const lines = [JSON.stringify(prepared)]
  for (const [list, own] of Object.entries(records)) {
    for (const record of own) {
      await yieldAfterTimeSlice(owner)
      lines.push(JSON.stringify([list, record]))
    }
  }
  return lines.join('\n')
}

/** Reads what `linesOf` has written. Yields the event loop between records. */
export async function preparedIn(text: string): Promise<Prepared> {
  const owner = {}
  const [prepared = '', ...lines] = text.split('\n')
  const records: Record<keyof NamedRecords, unknown[]> = {
    ...{ histories: [], incidents: [], maintenances: [], series: [], subscribers: [] },
  }
  for (const line of lines) {
    await yieldAfterTimeSlice(owner)
    const [list, record] = JSON.parse(line) as [keyof NamedRecords, unknown]
    records[list].push(record)
  }
  return { ...JSON.parse(prepared), records } as Prepared
}
