import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contrast, readableAccents } from '../../src/core/colour.ts'
import { themeStylesheet } from '../../src/http/assets/theme.ts'

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)

describe('the colour of an organization', () => {
  test('stays unchanged if it is readable', () => {
    expect(readableAccents('#0b6e5a').light).toBe('#0b6e5a')
    expect(readableAccents('#74cfb9').dark).toBe('#74cfb9')
  })

  test('becomes darker on light backgrounds and lighter on dark ones until it is readable', () => {
    fc.assert(
      fc.property(colour, (accent) => {
        const { light, dark } = readableAccents(accent)
        for (const paper of ['#fbfbf9', '#f2f3f0']) expect(contrast(light, paper)).toBeGreaterThanOrEqual(4.5)
        for (const paper of ['#14181a', '#1d2326']) expect(contrast(dark, paper)).toBeGreaterThanOrEqual(4.5)
        // The text of a button.
        expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(4.5)
        expect(contrast(dark, '#0b2a24')).toBeGreaterThanOrEqual(4.5)
      }),
    )
  })

  test('has the contrast of the WCAG examples', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })

  test('applies to screens only, not to print', () => {
    const sheet = themeStylesheet('#ffee00')
    expect(sheet).toContain('--brand:#ffee00')
    expect(sheet.match(/@media screen/g)).toHaveLength(2)
  })
})
