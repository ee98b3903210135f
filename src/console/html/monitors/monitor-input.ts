import type { Monitor } from '../../../generated/prisma/client.ts'
import type { MonitorKind } from '../../../generated/prisma/enums.ts'
import { redactOptions } from '../../../monitoring/monitor/options.ts'
import type { EditorField } from './monitor-fields.ts'

/** An input of the API, or a part of it. */
interface Input {
  [name: string]: unknown
}

/** A header in a form: an empty secret value is kept. */
export interface HeaderRow {
  readonly name: string
  readonly value: string
}

/**
 * Returns the input of the API for a submitted editor, without empty members; an empty secret is null, which keeps the
 * stored one.
 */
export function readMonitorInput(kind: MonitorKind, all: readonly EditorField[], fields: URLSearchParams): Input {
  const input: Input = { [kind.toLowerCase()]: {} }
  for (const field of all) {
    const path = field.name.split('.')
    const value = readField(field, fields)
    // The first member of an object within the options decides whether it is given.
    if (value !== undefined && (path.length < 3 || isFirst(field, all) || take(input, path.slice(0, -1)) !== undefined))
      put(input, path, value)
  }
  return input
}

function readField({ name, type, isNumber = false }: EditorField, fields: URLSearchParams): unknown {
  const text = fields.get(name)?.trim() ?? ''
  switch (type) {
    case 'number':
    case 'decimal':
      return text === '' ? undefined : Number(text)
    case 'flag':
      return fields.has(`${name}.shown`) ? fields.has(name) : undefined
    case 'choices':
      return fields.getAll(name)
    case 'words':
      return text === '' ? undefined : text.split(/[\s,]+/).filter(Boolean)
    case 'lines':
      return linesOf(text)
    case 'expectations':
      return linesOf(text).map(readExpectedHeader)
    case 'literal':
      return text === '' ? undefined : literal(text)
    case 'prose':
      return text.replaceAll('\r\n', '\n') || undefined
    case 'secret':
      return readSecret(name, fields)
    case 'headers':
      return headerRows(name, fields).map((row) => ({ name: row.name, value: row.value || null }))
    default:
      return isNumber && text !== '' ? Number(text) : text || undefined
  }
}

const linesOf = (text: string) => text.split(/[\r\n]+/).filter((line) => line.trim() !== '')

/** Parses `Name: value`, `Name`, `Name ~ expression` or `!Name`. */
function readExpectedHeader(line: string): Input {
  const text = line.trim()
  const [name = ''] = /^[^\s:~]*/.exec(text.replace(/^!\s*/, '')) ?? []
  if (text.startsWith('!')) return { name, absent: true }
  const rest = text.slice(name.length).trimStart()
  const sign = rest.charAt(0)
  if (sign !== ':' && sign !== '~') return { name: text }
  const value = rest.slice(1).trimStart()
  return { name, [sign === '~' ? 'matches' : 'equals']: value }
}

/** Formats an expected header for the editor. */
function expectedHeaderLine(header: unknown): string {
  const [name, equals, matches, absent] = ['name', 'equals', 'matches', 'absent'].map((each) => take(header, [each]))
  if (absent === true) return `!${name}`
  if (matches !== undefined) return `${name} ~ ${matches}`
  return equals === undefined ? String(name) : `${name}: ${equals}`
}

/** Null keeps the stored one; undefined removes it. */
function readSecret(name: string, fields: URLSearchParams): string | null | undefined {
  if (fields.has(`${name}.removed`)) return undefined
  return fields.get(name)?.replaceAll('\r\n', '\n') || null
}

/** Returns the headers of a form, without blank rows. */
export function headerRows(name: string, fields: URLSearchParams): HeaderRow[] {
  const values = fields.getAll(`${name}.value`)
  return fields
    .getAll(`${name}.name`)
    .map((each, index) => ({ name: each.trim(), value: values[index] ?? '' }))
    .filter((row) => row.name !== '')
}

/** Parses a number, true or false; other texts stay unchanged, without enclosing quotes. */
function literal(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return ['string', 'number', 'boolean'].includes(typeof value) ? value : text
  } catch {
    return text
  }
}

function put(input: Input, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    input[first] = value
    return
  }
  const known = input[first]
  const part = isInput(known) ? known : {}
  input[first] = part
  put(part, rest, value)
}

/** Returns whether a field is the first of its object. */
function isFirst({ name }: EditorField, all: readonly EditorField[]): boolean {
  const place = name.slice(0, name.lastIndexOf('.') + 1)
  return all.find((field) => field.name.startsWith(place))?.name === name
}

function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The values of a monitor in the fields of the editor, by name: texts, or several for a multiple choice. */
export type EditorValues = ReadonlyMap<string, string | readonly string[]>

/** Returns the values of the fields for a monitor; null: for a new one. Never includes secrets. */
export function editorValues(
  all: readonly EditorField[],
  monitor: (Monitor & { readonly dependsOnIds: readonly string[] }) | null,
): EditorValues {
  if (monitor === null) return new Map(all.map(({ name, initial = '' }) => [name, initial]))
  const { kind, options } = redactOptions(monitor)
  const whole: Input = { ...monitor, [kind.toLowerCase()]: options }
  return new Map(all.map((field) => [field.name, shownValue(field, take(whole, field.name.split('.')))]))
}

function take(input: unknown, path: readonly string[]): unknown {
  return path.reduce((part, name) => (isInput(part) ? part[name] : undefined), input)
}

function shownValue({ type }: EditorField, value: unknown): string | readonly string[] {
  if (value === undefined || value === null) return ''
  if (type === 'flag') return value === true ? 'true' : ''
  if (Array.isArray(value)) return shownList(type, value)
  if (type !== 'literal') return String(value)
  // A text that would be parsed as another type is shown in quotes.
  return typeof value === 'string' && literal(value) === value ? value : JSON.stringify(value)
}

function shownList(type: EditorField['type'], list: readonly unknown[]): string | readonly string[] {
  if (type === 'headers') return list.map((header) => String(take(header, ['name'])))
  if (type === 'choices') return list.map(String)
  if (type === 'expectations') return list.map(expectedHeaderLine).join('\n')
  return list.join(type === 'lines' ? '\n' : ', ')
}

/** Formats a stored value for display. */
export function valueInWords({ type, choices = [] }: EditorField, stored: string | readonly string[]): string {
  if (type === 'flag') return stored === 'true' ? 'yes' : 'no'
  const texts = [stored].flat().map((value) => choices.find((choice) => choice.value === value)?.text ?? value)
  return texts.filter((text) => text !== '').join(', ') || 'nothing'
}
