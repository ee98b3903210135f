import { ownValue } from '../core/own-value.ts'

/** The columns whose names are not those of their fields (`@map` in `schema.prisma`), by table and field. */
const renamed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Template: { notifySubscribers: 'tellSubscribers' },
  Maintenance: { notifySubscribers: 'tellSubscribers' },
  MaintenanceSeries: { notifySubscribers: 'tellSubscribers' },
  Watch: { lastProbedAt: 'lastCheckedAt' },
  Event: { notifySubscribers: 'tellSubscribers' },
  Alert: { subjectId: 'monitorId', subjectName: 'monitorName' },
}

/** Returns the name of the column of a field. */
export const columnOf = (table: string, field: string): string =>
  ownValue(ownValue(renamed, table) ?? {}, field) ?? field

/** Returns rows as objects of columns instead of fields. */
export function inColumns(
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly Readonly<Record<string, unknown>>[] {
  if (!Object.hasOwn(renamed, table)) return rows
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([field, value]) => [columnOf(table, field), value])),
  )
}
