import type { MonitorKind } from '../../generated/prisma/enums.ts'
import type { KindRules } from '../probe/probe.ts'
import { secretsOf } from './option-list.ts'
import type { Configuration } from './options.ts'
import { kindRules } from './probe-kinds.ts'

type Path = readonly string[]
type Members = Readonly<Record<string, unknown>>

/**
 * Returns the options of a kind with each secret replaced by the result of `change`.
 * @param change receives the secret and its name, such as `http body`.
 */
export function changeSecrets(
  kind: MonitorKind,
  options: unknown,
  change: (secret: string, what: string) => unknown,
): unknown {
  const own = kind.toLowerCase()
  return secretsOf(kind).reduce((value, path) => {
    if (path[1] !== '*') return changeAt(value, path, (secret) => change(String(secret), [own, ...path].join(' ')))
    const [list = '', , member = ''] = path
    return changeAt(value, [list], (items) => {
      if (!Array.isArray(items)) return items
      return items.map((item: Members) => {
        const what = `${own} ${list.replace(/s$/, '')} ${String(item['name']).toLowerCase()}`
        return changeAt(item, [member], (secret) => change(String(secret), what))
      })
    })
  }, options)
}

/** Changes the member of a value at a path, if it exists. */
function changeAt(value: unknown, [first, ...rest]: Path, change: (member: unknown) => unknown): unknown {
  if (first === undefined) return change(value)
  if (!isRecord(value) || value[first] === undefined || value[first] === null) return value
  return { ...value, [first]: changeAt(value[first], rest, change) }
}

/** Returns the paths of the secrets in options, except those in lists. */
export function secretPaths(kind: MonitorKind, options: unknown): Path[] {
  const at = (path: Path) =>
    path.reduce<unknown>((value, member) => (isRecord(value) ? value[member] : undefined), options)
  return secretsOf(kind).filter((path) => path[1] !== '*' && at(path) !== undefined)
}

/** Removes secrets from options. Replaces top-level ones with a flag, such as `hasBody` for `body`. */
export function withoutSecrets(kind: MonitorKind, options: unknown): Members {
  const left = secretsOf(kind).reduce((value, path) => {
    const [first = '', second = '', third = ''] = path
    if (second === '*')
      return changeAt(value, [first], (items) => (items as unknown[]).map((item) => omit(item, third)))
    if (second !== '') return changeAt(value, [first], (member) => omit(member, second))
    if (!isRecord(value)) return value
    const name = `has${first.charAt(0).toUpperCase()}${first.slice(1)}`
    return { ...(omit(value, first) as Members), [name]: value[first] !== undefined }
  }, options)
  return isRecord(left) ? left : {}
}

function omit(value: unknown, member: string): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== member))
}

/** An input in which omitted secrets are filled in. */
export interface Completed {
  readonly input: unknown
  /** The paths of the kept secrets. */
  readonly kept: readonly (readonly string[])[]
}

/** Fills in the stored secret for each secret that is null. */
export function withKeptSecrets(input: unknown, { kind, options }: Configuration): Completed {
  return secretsOf(kind).reduce<Completed>(
    (before, path) => {
      const { input: completed, kept } =
        path[1] === '*' ? keepEach(before.input, options, path) : keep(before.input, options, path)
      return { input: completed, kept: [...before.kept, ...kept] }
    },
    { input, kept: [] },
  )
}

function keep(input: unknown, before: unknown, path: Path): Completed {
  const [first = '', ...rest] = path
  if (!isRecord(input) || !isRecord(before)) return { input, kept: [] }
  if (rest.length === 0) {
    const own = before[first]
    return input[first] === null && own !== undefined
      ? { input: { ...input, [first]: own }, kept: [[first]] }
      : { input, kept: [] }
  }
  const { input: completed, kept } = keep(input[first], before[first], rest)
  return kept.length === 0
    ? { input, kept }
    : { input: { ...input, [first]: completed }, kept: kept.map((each) => [first, ...each]) }
}

/** Fills in secrets in a list, matching items by name. Several items with the same name get their secrets in order. */
function keepEach(input: unknown, before: unknown, [list = '', , member = '']: Path): Completed {
  if (!isRecord(input) || !isRecord(before) || !Array.isArray(input[list])) return { input, kept: [] }
  const stored = before[list]
  const left: Members[] = Array.isArray(stored) ? [...stored] : []
  const kept: string[][] = []
  const completed = input[list].map((item: unknown, position) => {
    const name = isRecord(item) && typeof item['name'] === 'string' ? item['name'].trim().toLowerCase() : null
    const index = left.findIndex((each) => String(each['name']).toLowerCase() === name)
    const [own] = index < 0 ? [] : left.splice(index, 1)
    if (own === undefined || !isRecord(item) || item[member] !== null) return item
    kept.push([list, String(position), member])
    return { ...item, [member]: own[member] }
  })
  return { input: { ...input, [list]: completed }, kept }
}

/** Returns the recipient of the secrets in options; null: the kind has no secrets. */
export function recipientOf({ kind, options }: Configuration): string | null {
  const { recipient }: KindRules = kindRules[kind]
  return recipient?.(options) ?? null
}

/** Returns whether a value is an object. */
export function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}
