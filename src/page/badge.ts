import type { ShownAs } from '../status/shown-status.ts'
import { shapes } from './shape.ts'
import { tones } from './tone.ts'
import { escapeXml } from './xml.ts'

/** What a badge says: `what` is how. */
export interface Badge {
  readonly what: string
  readonly how: string
  /** Its colour and its shape. */
  readonly status: ShownAs
}

/** The most characters of a name that fit a badge. */
const LONGEST = 40

/** A badge as SVG, 20 pixels high, to be shown in pages elsewhere: a name, and its status as a shape, a word and a colour. */
export function badgeSvg({ what, how, status }: Badge): string {
  const name =
    what.length > LONGEST
      ? `${Array.from(what)
          .slice(0, LONGEST - 1)
          .join('')}…`
      : what
  const [nameWidth, howWidth] = [widthOf(name), widthOf(how)]
  const left = nameWidth + 16
  const right = howWidth + 32
  const says = escapeXml(`${what}: ${how}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${says}">
<title>${says}</title>
<clipPath id="r"><rect width="${left + right}" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)">
<rect width="${left}" height="20" fill="#3a4247"/>
<rect x="${left}" width="${right}" height="20" fill="${tones[status].ink}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
<text x="8" y="14" textLength="${nameWidth}">${escapeXml(name)}</text>
<path transform="translate(${left + 8} 4.5) scale(.6875)" fill-rule="evenodd" d="${shapes[status]}"/>
<text x="${left + 24}" y="14" textLength="${howWidth}">${escapeXml(how)}</text>
</g>
</svg>
`
}

/** About how wide a text is, in pixels, in 11 pixels of Verdana; `textLength` makes it exactly that. */
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
