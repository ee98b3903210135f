import { invalid } from '../../core/validation.ts'

/** Returns the wanted time, or the first free millisecond after it. */
export function firstFreeTime(wanted: Date, taken: readonly Date[]): Date {
  const times = new Set(taken.map((each) => each.getTime()))
  let time = wanted.getTime()
  while (times.has(time)) time += 1
  return new Date(time)
}

/** @throws Invalid if the time is in the future. */
export function requireNotInFuture(path: string, at: Date | null | undefined, now: Date): void {
  if (at && at > now) throw invalid([{ path: [path], message: 'must not be in the future' }])
}
