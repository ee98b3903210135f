import type { ShownStatus } from '../../status/service/service-status.ts'
import { statusShapes } from '../status-shapes.ts'
import { statusColours } from '../status-tones.ts'
import { escapeXml } from '../xml.ts'

/** The content of a badge: `label: value`. */
export interface Badge {
  readonly label: string
  readonly value: string
  /** Sets the colour and the icon. */
  readonly status: ShownStatus
}

/** The maximum characters of a label. */
const MAX_LABEL_LENGTH = 40

/**
 * Renders a badge as SVG, 20 pixels high, to embed in other sites: a name, and its status as an icon, a word and a
 * colour.
 */
export function badgeSvg({ label, value, status }: Badge): string {
  const name =
    label.length > MAX_LABEL_LENGTH
      ? `${Array.from(label)
          .slice(0, MAX_LABEL_LENGTH - 1)
          .join('')}…`
      : label
  const [nameWidth, valueWidth] = [widthOf(name), widthOf(value)]
  const left = nameWidth + 16
  const right = valueWidth + 32
  const text = escapeXml(`${label}: ${value}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${text}">
<title>${text}</title>
<clipPath id="r"><rect width="${left + right}" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)">
<rect width="${left}" height="20" fill="#3a4247"/>
<rect x="${left}" width="${right}" height="20" fill="${statusColours[status].ink}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
<text x="8" y="14" textLength="${nameWidth}">${escapeXml(name)}</text>
<path transform="translate(${left + 8} 4.5) scale(.6875)" fill-rule="evenodd" d="${statusShapes[status]}"/>
<text x="${left + 24}" y="14" textLength="${valueWidth}">${escapeXml(value)}</text>
</g>
</svg>
`
}

/** Estimates the width of a text in pixels, in Verdana at 11 pixels; `textLength` stretches the text to it. */
function widthOf(text: string): number {
  return Math.ceil(Array.from(text).reduce((width, character) => width + widthOfCharacter(character), 0))
}

function widthOfCharacter(character: string): number {
  if (/[ijl.,:;'|!I ()[\]ft]/.test(character)) return 4.5
  if (/[mwMW@%]/.test(character)) return 10.5
  if (/[A-Z]/.test(character)) return 8
  if (/\p{M}/u.test(character)) return 0
  return /[\u1100-\uffdc\u{10000}-\u{10ffff}]/u.test(character) ? 11 : 6.8
}
