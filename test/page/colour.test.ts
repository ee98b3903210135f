import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contrast, readableAccents, themeSheet } from '../../src/page/colour.ts'

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)

describe('the colour of an organization', () => {
  test('is left as it is where it can be read', () => {
    expect(readableAccents('#0b6e5a').light).toBe('#0b6e5a')
    expect(readableAccents('#74cfb9').dark).toBe('#74cfb9')
  })

  test('is darkened on light paper and lightened on dark until it can be read, whatever it is', () => {
    fc.assert(
      fc.property(colour, (accent) => {
        const { light, dark } = readableAccents(accent)
        for (const paper of ['#fbfbf9', '#f2f3f0']) expect(contrast(light, paper)).toBeGreaterThanOrEqual(4.5)
        for (const paper of ['#14181a', '#1d2326']) expect(contrast(dark, paper)).toBeGreaterThanOrEqual(4.5)
      }),
    )
  })

  test('has the contrast that WCAG gives as its examples', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })

  test('is a style sheet for screens only: what is printed is black', () => {
    const sheet = themeSheet('#ffee00')
    expect(sheet).toContain('--brand:#ffee00')
    expect(sheet.match(/@media screen/g)).toHaveLength(2)
  })
})
