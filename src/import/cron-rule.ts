const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as const
const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const
const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const

/** A recurrence rule converted from a cron expression, and its time of day. */
export interface CronRule {
  readonly hour: number
  readonly minute: number
  /** RFC 5545. */
  readonly rule: string
}

/**
 * Converts a cron expression with one time of day to a recurrence rule: daily, on weekdays or on days of the month, in all or some
 * months. Null if no rule is equivalent, such as for weekdays combined with days of the month. Uptime Kuma joins these by
 * “or” unless one is a bare star, even with a step, where Debian’s cron demands both.
 */
export function cronRule(expression: string): CronRule | null {
  const fields = expression.trim().toUpperCase().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  const time = { hour: numberIn(hour, 23), minute: numberIn(minute, 59) }
  if (fields.length !== 5 || time.hour === null || time.minute === null) return null
  const rule = ruleOf({
    days: daysOf(day),
    months: valuesOf(named(month, monthNames, 1), 1, 12),
    onWeekdays: valuesOf(named(weekday, weekdayNames, 0), 0, 7),
  })
  return rule === null ? null : { hour: time.hour, minute: time.minute, rule }
}

function numberIn(field: string, most: number): number | null {
  return /^\d{1,2}$/.test(field) && Number(field) <= most ? Number(field) : null
}

type Values = readonly number[] | null

function ruleOf({
  days,
  months,
  onWeekdays,
}: Readonly<Record<'days' | 'months' | 'onWeekdays', Values>>): string | null {
  if (days === null || months === null || onWeekdays === null) return null
  const inMonths = months.length > 0 && months.length < 12 ? `;BYMONTH=${months.join(',')}` : ''
  // “Every day or a Monday” is every day.
  if (coversEach(days, 1, 31) || coversEach(onWeekdays, 0, 6)) return `FREQ=DAILY${inMonths}`
  if (onWeekdays.length === 0)
    return days.length === 0 ? `FREQ=DAILY${inMonths}` : `FREQ=MONTHLY${inMonths};BYMONTHDAY=${days.join(',')}`
  if (days.length > 0) return null
  const names = [...new Set(onWeekdays.map((number) => weekdays[number % 7]))]
  // A weekly rule cannot restrict months.
  return `FREQ=${inMonths === '' ? 'WEEKLY' : 'DAILY'}${inMonths};BYDAY=${names.join(',')}`
}

function coversEach(values: readonly number[], least: number, most: number): boolean {
  return Array.from({ length: most - least + 1 }, (_, index) => least + index).every((value) => values.includes(value))
}

/** Parses days of the month, where `L` is the last. Empty: every day. Null: invalid. */
function daysOf(field: string): number[] | null {
  const parts = field.split(',')
  const rest = valuesOf(parts.filter((part) => part !== 'L').join(',') || '*', 1, 31)
  if (rest === null) return null
  return parts.includes('L') ? [...rest, -1] : rest
}

function named(field: string, names: readonly string[], first: number): string {
  return field.replace(/[A-Z]{3}/g, (name) => (names.includes(name) ? String(names.indexOf(name) + first) : name))
}

/** Parses a field of lists, ranges and steps. Empty: all values. Null: invalid. */
function valuesOf(field: string, least: number, most: number): number[] | null {
  if (field === '*' || field === '?') return []
  const parts = field.split(',').map((part) => rangeOf(part, least, most))
  if (parts.some((part) => part === null)) return null
  return [...new Set(parts.flatMap((part) => part ?? []))].toSorted((one, other) => one - other)
}

/** Parses a number, a range, or either with a step. Null: invalid. */
function rangeOf(part: string, least: number, most: number): number[] | null {
  const [, from, to, step] = /^(\d{1,2}|\*)(?:-(\d{1,2}))?(?:\/(\d{1,2}))?$/.exec(part) ?? []
  if (from === undefined) return null
  const begin = from === '*' ? least : Number(from)
  const isOpen = from === '*' || step !== undefined
  const end = to === undefined ? (isOpen ? most : begin) : Number(to)
  const every = Number(step ?? 1)
  if (every === 0 || begin < least || end > most || begin > end) return null
  return Array.from({ length: Math.floor((end - begin) / every) + 1 }, (_, index) => begin + index * every)
}
