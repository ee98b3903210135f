import type { Database } from '../context.ts'
import type { PageState } from '../status/page-state.ts'
import { readPageState } from '../status/page-state.ts'
import type { ShownAs } from '../status/shown-status.ts'
import { findIncident } from './history.ts'
import { shapes } from './shape.ts'
import { tones } from './tone.ts'
import { headline, impactWords, incidentWords } from './view.ts'
import { escapeXml } from './xml.ts'
import { zoneOf } from './zone.ts'

/** What is shown of a page or an incident where somebody shares its address. */
export interface Picture {
  readonly owner: string
  /** `#rrggbb`. */
  readonly accentColor: string
  readonly sentence: string
  /** What is smaller below it. */
  readonly facts: string
  /** The colours and the shape of the whole. */
  readonly status: ShownAs
}

/** In pixels, as those who show such pictures ask for (https://ogp.me, and 1.91 to 1). */
export const PICTURE_SIZE = { width: 1200, height: 630 } as const

/**
 * What to show of the page of the organization with this id or slug, or, with an `incidentId`, of one of its incidents.
 * @throws NotFound when there is no such organization or incident.
 */
export async function readPicture(
  db: Database,
  idOrSlug: string,
  incidentId: string | null,
  now: Date,
): Promise<{ readonly organizationId: string; readonly picture: Picture }> {
  const state = await readPageState(db, idOrSlug, now)
  const organizationId = state.organization.id
  if (incidentId === null) return { organizationId, picture: pictureOfPage(state) }
  const { title, status, impact, startedAt } = await findIncident(db, organizationId, incidentId)
  const zone = zoneOf(state.organization.timeZone)
  const shown = status === 'RESOLVED' ? 'OPERATIONAL' : statusOfImpact[impact]
  const facts = `${incidentWords[status]} · ${impactWords[impact]} · ${zone.time(startedAt)}`
  const sentence = printable(title, 'An incident')
  return { organizationId, picture: { ...ownerOf(state), sentence, facts, status: shown } }
}

/** An incident that harms nothing is told of all the same. */
const statusOfImpact = {
  NONE: 'OPERATIONAL',
  MINOR: 'DEGRADED_PERFORMANCE',
  MAJOR: 'PARTIAL_OUTAGE',
  CRITICAL: 'MAJOR_OUTAGE',
} as const

function pictureOfPage(state: PageState): Picture {
  const { status, services, incidents, organization } = state
  const said = headline(status, services, incidents.length, zoneOf(organization.timeZone))
  const sentence = printable(said, `${status.description}.`)
  return { ...ownerOf(state), sentence, facts: 'Live status', status: status.shown }
}

function ownerOf({ organization: { name, slug, accentColor } }: PageState) {
  return { owner: printable(name, slug), accentColor }
}

/** The text, if the font of the pictures has its characters: Latin, Greek and Cyrillic ones; else what stands in for it. */
function printable(text: string, instead: string): string {
  const composed = text.normalize('NFC')
  return /^[ -~\u00a0-\u0254\u0384-\u03ce\u0400-\u0479\u048a-\u04ff\u1e00-\u1eff\u2010-\u2027\u2030-\u203a\u20ac\u2122\u2190-\u2193]*$/.test(
    composed,
  )
    ? composed
    : instead
}

/** The picture as SVG, in the font Inter. */
export function pictureSvg({ owner, accentColor, sentence, facts, status }: Picture): string {
  const { ink, tint } = tones[status]
  const lines = wrap(sentence, 23.5, 3)
  const top = 345 - lines.length * 37
  const { width, height } = PICTURE_SIZE
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="Inter">
<rect width="${width}" height="${height}" fill="#fbfbf9"/>
<rect width="${width}" height="16" fill="${escapeXml(accentColor)}"/>
<text x="72" y="118" font-size="46" font-weight="700" fill="#1a1f22">${escapeXml(clip(owner, 40))}</text>
<rect x="48" y="170" width="1104" height="350" rx="28" fill="${tint}"/>
<path transform="translate(96 285) scale(7.5)" fill="${ink}" fill-rule="evenodd" d="${shapes[status]}"/>
<g font-size="62" font-weight="700" fill="${ink}">
${lines.map((line, index) => `<text x="268" y="${top + 55 + index * 76}">${escapeXml(line)}</text>`).join('\n')}
</g>
<text x="72" y="585" font-size="32" fill="#586069">${escapeXml(facts)}</text>
</svg>
`
}

/** A text in lines of about so many letters, and no more lines than these; what is left out is told by dots. */
function wrap(text: string, letters: number, most: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && widthOf(`${line} ${word}`) <= letters) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  const kept = lines.slice(0, most).map((line) => clip(line, letters))
  const last = kept.at(-1) ?? ''
  return lines.length > most ? [...kept.slice(0, -1), clip(`${last}…`, letters)] : kept
}

function clip(text: string, letters: number): string {
  if (widthOf(text) <= letters) return text
  const characters = Array.from(text)
  while (widthOf(characters.join('')) >= letters) characters.pop()
  return `${characters.join('').replace(/[\s…]+$/, '')}…`
}

/** About how wide a text is, in letters of the usual width. */
function widthOf(text: string): number {
  return Array.from(text).reduce((width, character) => width + widthOfCharacter(character), 0)
}

function widthOfCharacter(character: string): number {
  if (/[ijlIt.,:;'|! ()[\]f]/.test(character)) return 0.55
  if (/[mwMW@%—…]/.test(character)) return 1.65
  return /\p{Lu}/u.test(character) ? 1.2 : 1
}
