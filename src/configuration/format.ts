import { z } from 'zod'
import { addressKeys } from '../alerting/channel-address.ts'
import { weekdays } from '../alerting/quiet-hours.ts'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import { Invalid, type Issue } from '../core/errors.ts'
import { formLimits } from '../core/input-limits.ts'
import { isJsonObject } from '../core/json-object.ts'
import { invalid, parse, validate } from '../core/validation.ts'
import {
  AlertChange,
  IncidentImpact,
  IncidentStatus,
  ServiceStatus,
  TemplateKind,
  UptimeSource,
} from '../generated/prisma/enums.ts'
import { languages } from '../language/catalogue.ts'
import { requirements } from '../monitoring/group/group.ts'
import { optionKeys } from '../monitoring/monitor/options.ts'
import { literalSecrets } from './literal-secrets.ts'
import { type Move, type Section, sections } from './sections.ts'
import { pathKey, type YamlText } from './yaml-text.ts'

/** The maximum length of a file, in characters. It exceeds the size limit of GraphQL requests. */
export const MAX_FILE_LENGTH = 1_000_000
/** The maximum number of objects of a file. */
const MAX_OBJECTS = 2000
/** The maximum number of objects that are validated in one time slice. */
const PART = 50
/**
 * The maximum length of a text of a file, before and after values are filled in: that of the longest text of an object,
 * whose every `${` is escaped. In characters.
 */
const MAX_TEXT_LENGTH = 1.5 * formLimits.list.most
/** Filling in values finds no more problems than this. */
const MAX_ISSUES = 100
/** The maximum length of a key. */
export const MAX_KEY_LENGTH = 63
/** The maximum number of values for `${NAME}`. */
const MAX_VARIABLES = 200
/** The default name of a file. */
export const DEFAULT_FILE = 'allclear.yaml'

const key = z
  .string()
  .max(MAX_KEY_LENGTH, `must have at most ${MAX_KEY_LENGTH} characters`)
  .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, 'must be lowercase letters and digits, separated by single - or _')

/** The format checks only the shape of fields. The operations that take them validate the values. */
const text = z.string()
const count = z.int()
const keys = z.array(key)
const options = z.record(z.string(), z.unknown())

const group = z.strictObject({ name: text, description: text.optional() })
const service = z.strictObject({
  name: text,
  description: text.optional(),
  group: key.nullish(),
  status: z.enum(ServiceStatus).nullish(),
})
const monitor = z.strictObject({
  name: text,
  service: key.nullish(),
  intervalSeconds: count.optional(),
  timeoutMs: count.optional(),
  failureThreshold: count.optional(),
  recoveryThreshold: count.optional(),
  agreement: count.nullish(),
  dependsOn: keys.optional(),
  ...fieldsOf(Object.keys(optionKeys), options.optional()),
  group: z
    .strictObject({ monitors: keys, require: z.enum(requirements).optional(), count: count.optional() })
    .optional(),
})
const page = z.strictObject({
  slug: text,
  name: text,
  services: keys.nullish(),
  description: text.nullish(),
  accentColor: text.nullish(),
  logoUrl: text.nullish(),
  links: z.array(z.strictObject({ label: text, url: text })).nullish(),
  uptimeSource: z.enum(UptimeSource).nullish(),
})
const channel = z.strictObject({
  name: text,
  when: z.array(z.enum(AlertChange)).optional(),
  monitors: keys.optional(),
  services: keys.optional(),
  remindAfterMinutes: count.nullish(),
  escalate: z.strictObject({ channel: key, afterMinutes: count }).nullish(),
  quietTimes: z
    .strictObject({
      windows: z.array(z.strictObject({ days: z.array(z.enum(weekdays)), from: text, to: text })),
      timeZone: text.nullish(),
    })
    .nullish(),
  ...fieldsOf(addressKeys, options.nullish()),
})

const template = z.strictObject({
  kind: z.enum(TemplateKind),
  name: text,
  title: text.optional(),
  message: text,
  translations: z
    .array(z.strictObject({ language: z.enum(languages), title: text.optional(), message: text.optional() }))
    .optional(),
  status: z.enum(IncidentStatus).nullish(),
  impact: z.enum(IncidentImpact).nullish(),
  services: z.array(z.union([key, z.strictObject({ service: key, status: z.enum(ServiceStatus) })])).optional(),
  notifySubscribers: z.boolean().optional(),
})
const objective = z.strictObject({
  service: key,
  target: z.number(),
  windowDays: count.nullish(),
  timeZone: text.optional(),
})

/** A reference to an object in `moved`, such as `services.api`. */
const objectReference = z
  .string()
  .regex(new RegExp(`^(?:${sections.join('|')})\\.[a-z0-9_-]+$`), 'must be like services.api')

/** The shape of a file. */
export const fileShape = z.strictObject({
  allclear: z.literal(1, 'must be 1, the version of this format'),
  moved: z
    .array(z.strictObject({ from: objectReference, to: objectReference }))
    .max(MAX_OBJECTS)
    .optional(),
  groups: z.record(key, group).nullish(),
  services: z.record(key, service).nullish(),
  monitors: z.record(key, monitor).nullish(),
  pages: z.record(key, page).nullish(),
  channels: z.record(key, channel).nullish(),
  templates: z.record(key, template).nullish(),
  objectives: z.record(key, objective).nullish(),
})

/** The fields that a file sets on an object. Absent fields stay unchanged. */
export type ObjectFields = Readonly<Record<string, unknown>>

/** A parsed file. */
export interface Configuration {
  /** The objects of each section by key, in file order. */
  readonly objects: Readonly<Record<Section, ReadonlyMap<string, ObjectFields>>>
  /** Renamed keys. */
  readonly moved: readonly Move[]
}

const variables = z
  .array(z.strictObject({ name: z.string().regex(/^[A-Za-z_]\w{0,99}$/, 'must be a name'), value: z.string() }))
  .max(MAX_VARIABLES, `must have at most ${MAX_VARIABLES} items`)
  .nullish()

/** Validates values for `${NAME}`. @throws Invalid. */
export function readVariables(given: unknown): ReadonlyMap<string, string> {
  const { variables: valid } = validate(z.object({ variables }), { variables: given })
  return new Map(valid?.map(({ name, value }) => [name, value]))
}

/**
 * Parses and validates a file, in time slices of an owner.
 * @param takesSecrets whether the file may contain literal secrets.
 * @throws Invalid with the path and line of each problem.
 */
export async function readConfiguration(
  owner: string,
  read: YamlText,
  values: ReadonlyMap<string, string>,
  takesSecrets = false,
): Promise<Configuration> {
  await yieldAfterTimeSlice(owner)
  const issues: Issue[] = takesSecrets ? [] : literalSecrets(read.value)
  const replaced: unknown[] = []
  for (const part of partsOf(read.value)) {
    await yieldAfterTimeSlice(owner)
    replaced.push(withValues(part, values, [], issues))
  }
  if (issues.length > 0) throw invalid(withLines(issues, read.lines))
  const valid: z.output<typeof fileShape>[] = []
  for (const part of replaced) {
    await yieldAfterTimeSlice(owner)
    const parsed = parse(fileShape, part)
    if (parsed.success) valid.push(parsed.data)
    else issues.push(...parsed.issues)
  }
  if (issues.length > 0) throw invalid(withLines(issues, read.lines))
  try {
    return configurationOf(valid)
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    throw invalid(withLines(error.issues, read.lines))
  }
}

/** Splits a file into smaller files: one without objects, and others with some objects each. Does not split other values. */
function partsOf(file: unknown): unknown[] {
  if (!isJsonObject(file)) return [file]
  const head = { ...file }
  const parts: unknown[] = [head]
  for (const section of sections) {
    const objects = head[section]
    if (!isJsonObject(objects)) continue
    delete head[section]
    const entries = Object.entries(objects)
    for (let from = 0; from < entries.length; from += PART)
      parts.push({ allclear: 1, [section]: Object.fromEntries(entries.slice(from, from + PART)) })
  }
  return parts
}

/** Adds a line to each issue: that of the innermost part of its path that has one. */
export function withLines(issues: readonly Issue[], lines: ReadonlyMap<string, number>): Issue[] {
  return issues.map((issue) => {
    for (let length = issue.path.length; length > 0; length--) {
      const line = lines.get(pathKey(issue.path.slice(0, length)))
      if (line !== undefined) return { ...issue, line }
    }
    return issue
  })
}

/** Merges the parts of a file. */
function configurationOf(parts: readonly z.output<typeof fileShape>[]): Configuration {
  const moved = parts.flatMap((part) => part.moved ?? [])
  const objects = Object.fromEntries(
    sections.map((section) => [section, new Map(parts.flatMap((part) => Object.entries(part[section] ?? {})))]),
  ) as unknown as Record<Section, Map<string, ObjectFields>>
  const total = sections.reduce((sum, section) => sum + objects[section].size, 0)
  if (total > MAX_OBJECTS) throw invalid([{ path: [], message: `must have at most ${MAX_OBJECTS} objects` }])
  return { objects, moved: moved.map((each, index) => readMove(each, index, objects)) }
}

function readMove({ from, to }: { from: string; to: string }, index: number, objects: Configuration['objects']) {
  const [section, fromKey = ''] = from.split('.') as [Section, string]
  const [toSection, toKey = ''] = to.split('.')
  const refuse = (field: string, message: string) => invalid([{ path: ['moved', String(index), field], message }])
  if (toSection !== section) throw refuse('to', 'must be in the same section')
  if (objects[section].has(fromKey)) throw refuse('from', 'must no longer be in the file')
  if (!objects[section].has(toKey)) throw refuse('to', 'must be in the file')
  return { section, from: fromKey, to: toKey }
}

/** Replaces `${NAME}` in all texts and unescapes `$${` to `${`. */
function withValues(
  value: unknown,
  values: ReadonlyMap<string, string>,
  path: readonly string[],
  issues: Issue[],
): unknown {
  const report = (message: string, at = path) => {
    if (issues.length < MAX_ISSUES) issues.push({ path: at, message })
  }
  if (typeof value === 'string') return filledIn(value, values, report)
  if (Array.isArray(value))
    return value.map((item, index) => withValues(item, values, [...path, String(index)], issues))
  if (typeof value !== 'object' || value === null) return value
  // The schemas of records would ignore this key.
  if (Object.hasOwn(value, '__proto__')) report('is not allowed as a key', [...path, '__proto__'])
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withValues(field, values, [...path, name], issues)]),
  )
}

/** Replaces `${NAME}` in a text unless it would be too long. A value of 80 kB may stand in a thousand places. */
function filledIn(text: string, values: ReadonlyMap<string, string>, report: (message: string) => void): string {
  let length = text.length
  const filled =
    length > MAX_TEXT_LENGTH
      ? ''
      : text.replace(/\$(\$?)\{(\w*)\}?/g, (found, escaped: string, name: string) => {
          if (escaped !== '') return found.slice(1)
          const own = values.get(name)
          if (own === undefined) report(`\${${name}} has no value: set ${name} in the environment`)
          length += own?.length ?? 0
          return length > MAX_TEXT_LENGTH ? '' : (own ?? '')
        })
  if (length > MAX_TEXT_LENGTH) report(`must have at most ${MAX_TEXT_LENGTH} characters`)
  return filled
}

function fieldsOf<K extends string, T extends z.ZodType>(names: readonly K[], type: T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, type])) as Record<K, T>
}
