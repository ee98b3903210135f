import { setImmediate } from 'node:timers/promises'
import type { RRuleTemporal } from 'rrule-temporal'
import { ownValue } from '../../core/own-value.ts'
import { DAY, MINUTE } from '../../core/time.ts'
import { formatLocalTime, parseLocalTime } from '../../core/time-zone.ts'
import { invalid } from '../../core/validation.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'

/** Days of the week in the notation of RFC 5545, Monday first. */
const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
type Weekday = (typeof weekdays)[number]

const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const

/** A recurrence rule (RFC 5545 §3.3.10) without its end. It has at most one start a day. */
interface Recurrence {
  readonly frequency: (typeof frequencies)[number]
  readonly interval: number
  readonly months: readonly number[]
  /** Negative values count from the end of the month. */
  readonly monthDays: readonly number[]
  /** `nth` is the occurrence within the month or year; null for all. */
  readonly days: readonly { readonly nth: number | null; readonly day: Weekday }[]
  readonly positions: readonly number[]
  readonly weekStart: Weekday | null
}

/** A rule and its end: at most one of `until` and `count`. */
interface ParsedRule {
  readonly recurrence: Recurrence
  /** The text in the rule: a date, a local time, or a UTC time. */
  readonly until: string | null
  readonly count: number | null
}

/** The maximum length of a rule, in characters. */
export const MAX_RULE_LENGTH = 300
const MAX_INTERVAL = 366
/** The maximum COUNT of a rule. */
const MAX_COUNT = 365

/**
 * The maximum number of periods (days, weeks, months or years) to search for a date. A rule without matches, such as 31
 * February, ends there.
 */
const MAX_PERIODS = 400

const ruleProblem = (message: string) => invalid([{ path: ['rule'], message }])

/** Parses a recurrence rule, with or without a leading `RRULE:`. @throws Invalid for an invalid or unsupported rule. */
export function parseRule(text: string): ParsedRule {
  const parts = partsOf(text)
  const frequency = frequencies.find((each) => each === parts.get('FREQ'))
  if (frequency === undefined) throw ruleProblem(`must have FREQ as one of ${frequencies.join(', ')}`)
  const weekStart = parts.get('WKST')
  const recurrence = {
    frequency,
    interval: numberOf(parts, 'INTERVAL', MAX_INTERVAL) ?? 1,
    months: numbersOf(parts, 'BYMONTH', 1, 12),
    monthDays: numbersOf(parts, 'BYMONTHDAY', -31, 31),
    days: parts.get('BYDAY')?.split(',').map(parseDay) ?? [],
    positions: numbersOf(parts, 'BYSETPOS', -366, 366),
    weekStart: weekStart === undefined ? null : parseDay(weekStart).day,
  }
  requirePossible(recurrence)
  const until = parts.get('UNTIL') ?? null
  const count = numberOf(parts, 'COUNT', MAX_COUNT)
  if (until !== null && !/^\d{8}(T\d{6}Z?)?$/.test(until)) throw ruleProblem('must have UNTIL as 20261231T235959Z')
  if (until !== null && count !== null) throw ruleProblem('must not have both UNTIL and COUNT')
  return { recurrence, until, count }
}

type Parts = ReadonlyMap<string, string>

function partsOf(text: string): Parts {
  const rule = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
  if (rule.length > MAX_RULE_LENGTH) throw ruleProblem(`must have at most ${MAX_RULE_LENGTH} characters`)
  const parts = new Map<string, string>()
  for (const part of rule.split(';')) {
    const [, name = '', value = ''] = /^([A-Z]+)=([A-Z0-9,+-]+)$/.exec(part) ?? []
    if (name === '') throw ruleProblem('must be a recurrence rule such as FREQ=WEEKLY;BYDAY=SU')
    if (parts.has(name)) throw ruleProblem(`must not have ${name} twice`)
    if (!known.has(name)) throw ruleProblem(`must not have ${name}: it can have ${[...known].join(', ')}`)
    parts.set(name, value)
  }
  return parts
}

/** The maximum number of values in a list. */
const MAX_VALUES = 62

function numbersOf(parts: Parts, name: string, min: number, max: number): number[] {
  const values = parts.get(name)?.split(',') ?? []
  const list = values.map((each) => (/^[+-]?\d{1,5}$/.test(each) ? Number(each) : Number.NaN))
  const isGood = list.every((each) => Math.abs(each) >= 1 && each >= min && each <= max)
  if (!isGood || list.length > MAX_VALUES) throw ruleProblem(`must have ${name} between ${min} and ${max}`)
  return [...new Set(list)].sort((one, other) => one - other)
}

function numberOf(parts: Parts, name: string, max: number): number | null {
  const [first, ...others] = numbersOf(parts, name, 1, max)
  if (others.length > 0) throw ruleProblem(`must have one ${name}`)
  return first ?? null
}

/** @throws Invalid for parts that cannot be combined (RFC 5545 §3.3.10). */
function requirePossible({ frequency, days, monthDays, positions }: Recurrence): void {
  if (days.length > MAX_VALUES) throw ruleProblem('has too many days')
  if (frequency === 'WEEKLY' && monthDays.length > 0) throw ruleProblem('must not have BYMONTHDAY each week')
  if (days.some(({ nth }) => nth !== null) && (frequency === 'DAILY' || frequency === 'WEEKLY'))
    throw ruleProblem('must not number the days of BYDAY each day or week')
  if (positions.length > 0 && days.length + monthDays.length === 0)
    throw ruleProblem('must have BYDAY or BYMONTHDAY beside BYSETPOS')
}

const known = new Set(['FREQ', 'INTERVAL', 'BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYSETPOS', 'WKST', 'UNTIL', 'COUNT'])

function parseDay(text: string): Recurrence['days'][number] {
  const [, nth, name] = /^([+-]?[1-9]\d?)?([A-Z]{2})$/.exec(text) ?? []
  const day = weekdays.find((each) => each === name)
  if (day === undefined) throw ruleProblem('must have days such as MO or 2TU')
  if (nth !== undefined && Math.abs(Number(nth)) > 53) throw ruleProblem('must have days from -53 to 53')
  return { nth: nth === undefined ? null : Number(nth), day }
}

/** Formats a rule without its end, with its parts in a fixed order. */
export function formatRule({ frequency, interval, months, monthDays, days, positions, weekStart }: Recurrence): string {
  const list = (name: string, values: readonly (string | number)[]) =>
    values.length > 0 && `${name}=${values.join(',')}`
  return [
    `FREQ=${frequency}`,
    interval > 1 && `INTERVAL=${interval}`,
    list('BYMONTH', months),
    list('BYMONTHDAY', monthDays),
    list(
      'BYDAY',
      days.map(({ nth, day }) => `${nth ?? ''}${day}`),
    ),
    list('BYSETPOS', positions),
    weekStart !== null && `WKST=${weekStart}`,
  ]
    .filter((part) => part !== false)
    .join(';')
}

/** The choices in a form from which a rule is built. */
interface FriendlyRule {
  /** DAILY, WEEKLY, MONTHLY, or MONTHLY_WEEKDAY for the weekday of the first start. */
  readonly repeat: string
  readonly interval: string
  readonly days: readonly string[]
  /** A date such as 2026-12-31, or empty. */
  readonly until: string
  /** The first start, as a local time. */
  readonly local: string
}

/** Returns the rule for the choices in a form, or an empty string. */
export function friendlyRule({ repeat, interval, days, until, local }: FriendlyRule): string {
  const date = new Date(`${local}Z`)
  const nth = Math.ceil(date.getUTCDate() / 7)
  const by: Readonly<Record<string, string>> = {
    WEEKLY: days.length > 0 ? `;BYDAY=${days.join(',')}` : '',
    MONTHLY: `;BYMONTHDAY=${date.getUTCDate()}`,
    // A month may have no fifth occurrence.
    MONTHLY_WEEKDAY: `;BYDAY=${nth > 4 ? -1 : nth}${weekdays[(date.getUTCDay() + 6) % 7]}`,
  }
  const every = interval === '' || interval === '1' ? '' : `;INTERVAL=${interval}`
  const end = until === '' ? '' : `;UNTIL=${until.replaceAll('-', '')}`
  return `FREQ=${repeat === 'MONTHLY_WEEKDAY' ? 'MONTHLY' : repeat}${every}${ownValue(by, repeat) ?? ''}${end}`
}

/** Returns the end that UNTIL defines in a time zone; a date includes that day. @throws Invalid for an invalid date. */
export function untilOf(until: string, timeZone: string): Date {
  const [, year, month, day, hour = '23', minute = '59', second = '59', utc] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(until) ?? []
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const at = parseLocalTime(utc === undefined ? timeZone : 'UTC', local)
  if (at === null) throw ruleProblem('must have a date in UNTIL')
  return at
}

/** The library needs Temporal, which Node.js 20 lacks. Loaded on first use. */
let loading: Promise<typeof import('rrule-temporal')> | undefined
function library() {
  loading ??= import('temporal-polyfill/global').then(() => import('rrule-temporal'))
  return loading
}

/**
 * Calls `take` with the starts of a rule as local times such as `2026-03-29T02:00`, beginning with the first match at
 * or after `from`. They are computed without a time zone, so that clock changes never move the time of day.
 * @param take returns whether to continue.
 */
export async function eachLocalStart(rule: string, from: string, take: (local: string) => boolean): Promise<void> {
  const { RRuleTemporal } = await library()
  let begin = from
  for (let known = 0; ; known = 1) {
    const floating = `${begin.replace(/[-:]/g, '')}00Z`
    const options = { rruleString: `DTSTART:${floating}\nRRULE:${rule}`, maxIterations: MAX_PERIODS, cache: false }
    const found = firstOf(new RRuleTemporal(options), PER_SLICE)
    if (!found.slice(known).every(take) || found.length < PER_SLICE) return
    begin = found.at(-1) ?? begin
    await setImmediate()
  }
}

/**
 * The library gets slower with each date of a list, so it restarts after this many dates, which also yields to others.
 */
const PER_SLICE = 20

function firstOf(rule: RRuleTemporal, count: number): string[] {
  const found: string[] = []
  try {
    rule.all((at) => found.push(at.toString().slice(0, 16)) < count)
  } catch (error) {
    // The library throws if it finds no date within the limit.
    if (!(error instanceof Error && /exceeded/.test(error.message))) throw error
  }
  return found
}

/** The data that determines the dates of a series. Local times are in its time zone. */
export interface Schedule {
  readonly timeZone: string
  readonly rule: string
  readonly anchor: string
  readonly durationMinutes: number
  readonly until: Date | null
  readonly skipped: readonly string[]
}

/** One date of a series. */
export interface SeriesDate {
  readonly local: string
  readonly startsAt: Date
}

/**
 * Returns the moment of a stored local time. A time that the clocks skip is moved forward by the gap (RFC 5545 §3.3.5).
 */
export function instantOf(timeZone: string, local: string): Date {
  const at = parseLocalTime(timeZone, local)
  if (at === null) throw new Error(`Not a local time: ${local}`)
  return at
}

/**
 * Returns up to `limit` dates of a series that are not over at `now`, without skipped ones. `anchor` is the first of
 * them including skipped ones, or null.
 */
export async function nextDates(
  { timeZone, rule, anchor, durationMinutes, until, skipped }: Schedule,
  now: Date,
  limit: number,
): Promise<{ readonly dates: readonly SeriesDate[]; readonly anchor: string | null }> {
  const dates: SeriesDate[] = []
  const left = new Set(skipped)
  let first: string | null = null
  await eachLocalStart(rule, anchor, (local) => {
    const startsAt = instantOf(timeZone, local)
    if (until !== null && startsAt > until) return false
    if (startsAt.getTime() + durationMinutes * MINUTE <= now.getTime()) return true
    first ??= local
    if (!left.has(local)) dates.push({ local, startsAt })
    return dates.length < limit
  })
  return { dates, anchor: first }
}

/** The maximum number of skipped starts of a series. */
export const MAX_SKIPPED = 200

/** Adds a start to the skipped starts of a series. Drops the earliest if there are too many. */
export function addSkipped(
  { timeZone, skipped }: { readonly timeZone: string; readonly skipped: readonly string[] },
  startsAt: Date,
): string[] {
  return [...new Set([...skipped, localOf(timeZone, startsAt)])].sort().slice(-MAX_SKIPPED)
}

/** How long before its start a date is scheduled, and how many dates at most; the next date is always scheduled. */
const AHEAD = 35 * DAY
const MAX_AHEAD = 3

/**
 * Returns which of the next dates of a series to schedule now, and when to look again (null: never).
 * @param dates the next dates: if there are enough, at least one more than can be scheduled.
 */
export function planAhead(
  dates: readonly SeriesDate[],
  durationMinutes: number,
  now: Date,
): { readonly wanted: readonly SeriesDate[]; readonly dueAt: Date | null } {
  const horizon = now.getTime() + AHEAD
  const wanted = dates.slice(0, MAX_AHEAD).filter(({ startsAt }, index) => index === 0 || +startsAt <= horizon)
  const [first] = dates
  if (first === undefined) return { wanted, dueAt: null }
  const isOver = +first.startsAt + durationMinutes * MINUTE
  const next = wanted.length < MAX_AHEAD ? dates[wanted.length] : undefined
  return { wanted, dueAt: new Date(Math.min(isOver, next === undefined ? isOver : +next.startsAt - AHEAD)) }
}

/** How many dates `planAhead` needs. */
export const DATES_TO_PLAN = MAX_AHEAD + 1

/**
 * Describes how a rule repeats, such as `Every Sunday at 02:00`.
 * @param local the start, as a local time.
 * @param words English by default.
 */
export function ruleInWords(
  rule: string,
  local: string,
  { repeats }: Pick<Catalogue, 'repeats'> = wordsOf('EN'),
): string {
  const { recurrence } = parseRule(rule)
  const { frequency, months, positions } = recurrence
  const isPlain = months.length === 0 && positions.length === 0
  const what = isPlain ? plainWords[frequency](recurrence, new Date(`${local}Z`), repeats) : null
  return repeats.at(what ?? repeats.other, local.slice(11, 16))
}

/** Describes rules by frequency; null for rules with parts that these words do not cover. */
const plainWords: Readonly<
  Record<Recurrence['frequency'], (rule: Recurrence, date: Date, words: Catalogue['repeats']) => string | null>
> = {
  DAILY: ({ interval, days, monthDays }, _date, words) =>
    days.length + monthDays.length === 0 ? words.days(interval) : null,
  WEEKLY({ days, interval }, date, words) {
    const own = (date.getUTCDay() + 6) % 7
    return words.weeks(interval, days.length === 0 ? [own] : days.map(({ day }) => weekdays.indexOf(day)))
  },
  MONTHLY({ interval, days, monthDays }, date, words) {
    if (days.length === 0) {
      const numbers = monthDays.length === 0 ? [date.getUTCDate()] : monthDays
      const isLast = numbers.length === 1 && numbers[0] === -1
      return isLast || numbers.every((each) => each > 0) ? words.monthDays(interval, numbers) : null
    }
    const named = days.flatMap(({ nth, day }) =>
      nth === null || (nth !== -1 && (nth < 1 || nth > 5)) ? [] : [{ nth, day: weekdays.indexOf(day) }],
    )
    return monthDays.length > 0 || named.length < days.length ? null : words.monthWeekdays(interval, named)
  },
  YEARLY: ({ interval, days, monthDays }, date, words) =>
    days.length + monthDays.length === 0 ? words.years(interval, date) : null,
}

/** Formats a moment as a local time in a time zone, to the minute. */
export const localOf = formatLocalTime
