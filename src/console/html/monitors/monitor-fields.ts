import type { Member, Shape } from '../../../core/described.ts'
import { defined } from '../../../core/optimistic-lock.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../core/time.ts'
import type { MonitorKind } from '../../../generated/prisma/enums.ts'
import type { Choice } from '../../../http/page/form.tsx'
import { optionsOf } from '../../../monitoring/monitor/option-list.ts'

/** A field of the monitor editor, named like the member of the API's input. */
export interface EditorField {
  readonly name: string
  readonly label: string
  /**
   * `words`: a list separated by spaces or commas. `lines`: a list with an item per line. `literal`: a JSON value.
   * `decimal`: any number. `prose`: a text of several lines. `secret`: never shown again, and kept when left empty.
   * `headers`: names with secret values. `expectations`: assertions about headers, with one per line.
   */
  readonly type:
    | 'text'
    | 'url'
    | 'number'
    | 'decimal'
    | 'prose'
    | 'flag'
    | 'choice'
    | 'choices'
    | 'words'
    | 'lines'
    | 'literal'
    | 'secret'
    | 'headers'
    | 'expectations'
  readonly hint?: string
  readonly required?: boolean
  readonly min?: number
  readonly max?: number
  readonly maxlength?: number
  readonly choices?: readonly Choice[]
  /** The value in a new monitor. */
  readonly initial?: string
  /** Whether it is collapsed. */
  readonly isRare?: boolean
  /** The title of its collapsed section. */
  readonly section?: string
  /** Whether its choices are numbers. */
  readonly isNumber?: boolean
}

/** Collapsed fields. */
interface FieldSection {
  readonly title: string
  readonly fields: readonly EditorField[]
}

/** Returns the common fields, and the others in sections. Leaves out choices without options. */
export function sectionsOf(all: readonly EditorField[]): {
  readonly usual: readonly EditorField[]
  readonly rare: readonly FieldSection[]
} {
  const shown = all.filter(({ type, choices = [] }) => type !== 'choices' || choices.length > 0)
  const titleOf = ({ section, isRare }: EditorField) => section ?? (isRare ? OTHERS : null)
  const titles = new Set(shown.map(titleOf).filter((title) => title !== null && title !== OTHERS))
  const inSection = (title: string | null) => shown.filter((field) => titleOf(field) === title)
  const rare = [...titles, OTHERS].map((title) => ({ title: title ?? '', fields: inSection(title) }))
  return { usual: inSection(null), rare: rare.filter(({ fields }) => fields.length > 0) }
}

const OTHERS = 'More options'

/** Returns the fields of a kind's options, named like the members of the API's input. */
export const kindFields = (kind: MonitorKind): readonly EditorField[] =>
  optionsOf(kind).flatMap((option) => fieldsOf(option, [kind.toLowerCase()]))

/** @param place the path of the object that has the member. @param section that of the object. */
function fieldsOf(member: Member, place: readonly string[], section?: string): readonly EditorField[] {
  const { name, words, shape, isRequired, initial } = member
  const path = [...place, name]
  const title = words.section ?? section
  if (shape.kind === 'object') return shape.members.flatMap((each) => fieldsOf(each, path, title))
  const { label = '', hint, isRare = false, none } = words
  const type = typeOf(member)
  return [
    {
      ...{ name: path.join('.'), label, type, isRare },
      ...(hint !== undefined && { hint }),
      ...(title !== undefined && { section: title }),
      // The object of a deeper member may be left out.
      ...(isRequired && place.length === 1 && type !== 'choices' && { required: true }),
      initial: initial === undefined || initial === false ? '' : [initial].flat().join(', '),
      ...limitsOf(shape),
      ...choicesOf(shape, none),
    },
  ]
}

function typeOf({ words, shape }: Member): EditorField['type'] {
  if (words.field !== undefined) return words.field
  if (words.secret !== undefined) return 'secret'
  if (shape.kind === 'list') return shape.of.kind === 'choice' || shape.of.type?.name === 'ID' ? 'choices' : 'lines'
  if (shape.kind === 'number') return shape.isWhole ? 'number' : 'decimal'
  if (shape.kind === 'object' || shape.kind === 'date') throw new Error(`No field of the editor takes a ${shape.kind}`)
  return shape.kind === 'value' ? 'literal' : shape.kind
}

function limitsOf(shape: Shape): Pick<EditorField, 'min' | 'max' | 'maxlength'> {
  if (shape.kind === 'number') return { ...defined({ min: shape.min, max: shape.max }) }
  return (shape.kind === 'text' || shape.kind === 'value') && shape.maxLength ? { maxlength: shape.maxLength } : {}
}

/** @param none the text of the choice of none; absent: one must be chosen. */
function choicesOf(shape: Shape, none: string | undefined): Pick<EditorField, 'choices' | 'isNumber'> {
  const chosen = shape.kind === 'list' ? shape.of : shape
  if (chosen.kind !== 'choice') return {}
  const known = chosen.values.map((value) => ({ value: `${value}`, text: chosen.type?.texts?.[value] ?? `${value}` }))
  const isNumber = chosen.values.every((value) => typeof value === 'number')
  return { choices: none === undefined ? known : [{ value: '', text: none }, ...known], ...(isNumber && { isNumber }) }
}

const intervals: Partial<Record<MonitorKind, number>> = { HEARTBEAT: DAY, BLACKLIST: HOUR }

/**
 * Returns the fields of every kind.
 * @param services to choose from.
 * @param monitors that it may depend on.
 */
export function commonFields(
  kind: MonitorKind,
  services: readonly Choice[],
  monitors: readonly Choice[],
): readonly EditorField[] {
  const interval = String((intervals[kind] ?? MINUTE) / SECOND)
  const every: EditorField = {
    ...{ name: 'intervalSeconds', label: 'Interval', type: 'number', min: 10, initial: interval },
    hint:
      kind === 'HEARTBEAT'
        ? 'Seconds between two reports. Ignored if there is a schedule.'
        : 'Seconds between two probes.',
  }
  const service: EditorField = {
    ...{ name: 'serviceId', label: 'Service', type: 'choice', initial: '' },
    hint: 'The service whose status it determines.',
    choices: [{ value: '', text: 'None' }, ...services],
  }
  const dependsOn: EditorField = {
    ...{ name: 'dependsOnIds', label: 'Depends on', type: 'choices', choices: monitors, isRare: true },
    hint: 'While one of these is down, this one opens no incidents and no alerts.',
  }
  if (kind === 'GROUP') return [service, dependsOn]
  return kind === 'HEARTBEAT' ? [every, service, dependsOn] : [every, service, ...thresholds, dependsOn]
}

const thresholds: readonly EditorField[] = [
  {
    ...{ name: 'timeoutMs', label: 'Timeout', type: 'number', min: 500, max: 30_000, initial: '10000', isRare: true },
    hint: 'Milliseconds.',
  },
  {
    ...{ name: 'failureThreshold', label: 'Failures until down', type: 'number', min: 1, max: 10, isRare: true },
    ...{ initial: '2', hint: 'In a row.' },
  },
  {
    ...{ name: 'recoveryThreshold', label: 'Successes until up', type: 'number', min: 1, max: 10, isRare: true },
    ...{ initial: '1', hint: 'In a row.' },
  },
  {
    ...{ name: 'agreement', label: 'Regions that must agree', type: 'number', min: 1, max: 100, isRare: true },
    hint: 'How many regions must find it down. Empty: more than half of those that report.',
  },
]
