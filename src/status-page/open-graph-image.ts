import type { Catalogue, Language } from '../language/catalogue.ts'
import { wordsOf } from '../language/catalogue.ts'
import type { PageState } from '../status/page/page-state.ts'
import type { ShownStatus } from '../status/service/service-status.ts'
import { titleIn } from '../status/timeline/translations.ts'
import { documentLanguage } from './document-language.ts'
import { findIncident, findMaintenance } from './history.ts'
import type { StateSource } from './shared-state.ts'
import { sharedState, versionOf } from './shared-state.ts'
import { statusShapes } from './status-shapes.ts'
import { statusColours } from './status-tones.ts'
import { zoneOf } from './time-format.ts'
import { headline as pageHeadline, pageLabel } from './view.ts'
import { escapeXml } from './xml.ts'

/** The preview image of a link to a page, an incident or a maintenance. */
export interface OpenGraphImage {
  readonly owner: string
  /** `#rrggbb`. */
  readonly accentColor: string
  readonly headline: string
  /** Smaller text at the bottom. */
  readonly facts: string
  /** Sets the colours and the icon. */
  readonly status: ShownStatus
}

/** The size in pixels that link previews expect (https://ogp.me, aspect ratio 1.91:1). */
export const OPEN_GRAPH_IMAGE_SIZE = { width: 1200, height: 630 } as const

/** An image, with the state and language that it shows. */
interface ReadImage {
  readonly organizationId: string
  readonly language: Language
  readonly offered: null
  readonly stateVersion: string
  readonly image: OpenGraphImage
}

/** An incident or a maintenance of a page. */
export interface ImageSubject {
  readonly kind: 'incident' | 'maintenance'
  readonly id: string
}

/**
 * Reads the image of the page of the organization with this id or slug, or of one of its incidents or maintenances.
 * @throws NotFound.
 */
export async function readOpenGraphImage(
  source: StateSource,
  idOrSlug: string,
  subject: ImageSubject | null,
  requested: Language | null,
): Promise<ReadImage> {
  const state = await sharedState(source, idOrSlug)
  const organizationId = state.organization.id
  const language = documentLanguage(state, requested)
  const words = wordsOf(language)
  const of = { organizationId, language, offered: null, stateVersion: versionOf(state) }
  if (subject === null) return { ...of, image: pageImage(state, words) }
  const imageOf = subject.kind === 'incident' ? incidentImage : maintenanceImage
  return { ...of, image: { ...ownerFields(state), ...(await imageOf(source, state, subject.id, language)) } }
}

type SubjectImage = Pick<OpenGraphImage, 'headline' | 'facts' | 'status'>

async function incidentImage(
  source: StateSource,
  state: PageState,
  incidentId: string,
  language: Language,
): Promise<SubjectImage> {
  const words = wordsOf(language)
  const { status, impact, startedAt, ...incident } =
    state.incidents.find(({ id }) => id === incidentId) ?? (await findIncident(source.db, state.scope, incidentId))
  const zone = zoneOf(state.organization.timeZone, words)
  return {
    headline: printable(titleIn(incident, language).title, words.previewImage.anIncident),
    facts: printable([words.incidentStatus[status], words.impact[impact], zone.time(startedAt)].join(' · ')),
    status: status === 'RESOLVED' ? 'OPERATIONAL' : statusOfImpact[impact],
  }
}

async function maintenanceImage(
  source: StateSource,
  state: PageState,
  maintenanceId: string,
  language: Language,
): Promise<SubjectImage> {
  const words = wordsOf(language)
  const { status, startsAt, endsAt, ...maintenance } =
    state.maintenances.find(({ id }) => id === maintenanceId) ??
    (await findMaintenance(source.db, state.scope, maintenanceId))
  const zone = zoneOf(state.organization.timeZone, words)
  const end = zone.dayKey(startsAt) === zone.dayKey(endsAt) ? zone.clock(endsAt) : zone.time(endsAt)
  const time = words.maintenance.fromTo(zone.time(startsAt), end).join('')
  return {
    headline: printable(titleIn(maintenance, language).title, words.maintenance.maintenance),
    facts: printable([words.maintenanceStatus[status], time].join(' · '), time),
    status: status === 'COMPLETED' || status === 'CANCELLED' ? 'OPERATIONAL' : 'UNDER_MAINTENANCE',
  }
}

/** The status that represents each impact. */
const statusOfImpact = {
  NONE: 'OPERATIONAL',
  MINOR: 'DEGRADED_PERFORMANCE',
  MAJOR: 'PARTIAL_OUTAGE',
  CRITICAL: 'MAJOR_OUTAGE',
} as const

function pageImage(state: PageState, words: Catalogue): OpenGraphImage {
  const { status, organization } = state
  const text = pageHeadline(state, zoneOf(organization.timeZone, words), words)
  const headline = printable(text, pageLabel(state, words))
  return { ...ownerFields(state), headline, facts: printable(words.previewImage.live), status: status.shown }
}

function ownerFields({ organization: { name, slug, accentColor } }: PageState) {
  return { owner: printable(name, slug), accentColor }
}

/** Returns the first text whose characters the image's font has (Latin, Greek, Cyrillic); empty: none. */
function printable(...texts: readonly string[]): string {
  return texts.map((text) => text.normalize('NFC')).find(isPrintable) ?? ''
}

function isPrintable(composed: string): boolean {
  return /^[ -~\u00a0-\u0254\u0384-\u03ce\u0400-\u0479\u048a-\u04ff\u1e00-\u1eff\u2010-\u2027\u2030-\u203a\u20ac\u2122\u2190-\u2193]*$/.test(
    composed,
  )
}

/** Returns the image as SVG, in the font Inter. */
export function openGraphImageSvg({ owner, accentColor, headline, facts, status }: OpenGraphImage): string {
  const { ink, tint } = statusColours[status]
  const lines = wrap(headline, 23.5, 3)
  const top = 345 - lines.length * 37
  // Without text, the icon alone shows the status.
  const left = headline === '' ? 540 : 96
  const { width, height } = OPEN_GRAPH_IMAGE_SIZE
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="Inter">
<rect width="${width}" height="${height}" fill="#fbfbf9"/>
<rect width="${width}" height="16" fill="${escapeXml(accentColor)}"/>
<text x="72" y="118" font-size="46" font-weight="700" fill="#1a1f22">${escapeXml(clip(owner, 40))}</text>
<rect x="48" y="170" width="1104" height="350" rx="28" fill="${tint}"/>
<path transform="translate(${left} 285) scale(7.5)" fill="${ink}" fill-rule="evenodd" d="${statusShapes[status]}"/>
<g font-size="62" font-weight="700" fill="${ink}">
${lines.map((line, index) => `<text x="268" y="${top + 55 + index * 76}">${escapeXml(line)}</text>`).join('\n')}
</g>
<text x="72" y="585" font-size="32" fill="#586069">${escapeXml(facts)}</text>
</svg>
`
}

/** Wraps a text into at most `maxLines` lines of about `letters` letters; an ellipsis marks cut text. */
function wrap(text: string, letters: number, maxLines: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && widthOf(`${line} ${word}`) <= letters) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  const kept = lines.slice(0, maxLines).map((line) => clip(line, letters))
  const last = kept.at(-1) ?? ''
  return lines.length > maxLines ? [...kept.slice(0, -1), clip(`${last}…`, letters)] : kept
}

function clip(text: string, letters: number): string {
  if (widthOf(text) <= letters) return text
  const characters = Array.from(text)
  while (widthOf(characters.join('')) >= letters) characters.pop()
  return `${characters.join('').replace(/(?<![\s…])[\s…]+$/, '')}…`
}

/** Estimates the width of a text, in letters of average width. */
function widthOf(text: string): number {
  return Array.from(text).reduce((width, character) => width + widthOfCharacter(character), 0)
}

function widthOfCharacter(character: string): number {
  if (/[ijlIt.,:;'|! ()[\]f]/.test(character)) return 0.55
  if (/[mwMW@%—…]/.test(character)) return 1.65
  return /\p{Lu}/u.test(character) ? 1.2 : 1
}
