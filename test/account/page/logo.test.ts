import { describe, expect, test } from 'vitest'
import { changedLogo, logoUrlAt, readLogo, shownLogo } from '../../../src/account/page/logo.ts'
import { jpeg, png, svg, textFile, webp } from '../../support/pictures.ts'

const join = (...parts: Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]))

describe('an uploaded logo', () => {
  test.each([
    ['png', png(2000, 40)],
    ['jpg', jpeg(40, 2000)],
    ['webp', webp(2000, 2000)],
    ['svg', svg()],
    ['svg', textFile(`<?xml version="1.0"?>\n<!-- drawn -->${new TextDecoder().decode(svg())}`)],
  ])('is recognized by its content: %s', (format, content) => {
    expect(readLogo(content)).toEqual({ file: expect.stringMatching(`^[0-9a-f]{64}\\.${format}$`), content })
    expect(readLogo(content).file).toBe(readLogo(content.slice()).file)
  })

  test.each([
    ['PNG of 2001 pixels', png(2001, 1)],
    ['PNG of 4 billion pixels', png(65_536, 65_536)],
    ['JPEG of 65,535 pixels', jpeg(1, 65_535)],
    ['WebP of 16 million pixels', webp(16_777_216, 1)],
    ['PNG without width', png(0, 1)],
    ['PNG that ends early', png(1, 1).slice(0, 18)],
    ['JPEG without a size', jpeg(1, 1).slice(0, 20)],
    ['GIF', textFile('GIF89a\u0001\0\u0001\0')],
    ['page', textFile('<!DOCTYPE html><html><script>alert(1)</script>')],
    ['page followed by an image', join(textFile('<html>'), png(1, 1))],
    ['SVG with entities', textFile(`<!DOCTYPE svg [<!ENTITY a "aaaa">]>${new TextDecoder().decode(svg('&a;'))}`)],
    ['SVG without its namespace', textFile('<svg></svg>')],
    ['text that is not UTF-8', new Uint8Array([0x3c, 0x73, 0x76, 0x67, 0x20, 0xff])],
    ['nothing', new Uint8Array()],
    ['file of 256 kB and a byte', join(png(1, 1), new Uint8Array(256 * 1024))],
  ])('is refused: %s', (_name, content) => {
    expect(() => readLogo(content)).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ path: ['logo'] })] }),
    )
  })

  test.each([0x00, 0xff, 0xc3])('is read in linear time, regardless of the byte that it repeats: %i', (byte) => {
    const content = new Uint8Array(256 * 1024).fill(byte)
    content.set([0xff, 0xd8, 0xff, 0xe0, 0, 2])
    expect(() => readLogo(content)).toThrow('logo')
  })
})

describe('the stored logo', () => {
  const own = `/logos/${'0'.repeat(64)}.png`

  test('is a path of this service, or a URL elsewhere', () => {
    expect(shownLogo(own)).toBe(own)
    expect(shownLogo('https://cdn.example/a.svg')).toBe('https://cdn.example/a.svg')
    expect(shownLogo('https://cdn.example;x/a.svg')).toBeNull()
    expect(logoUrlAt('https://a.example', own)).toBe(`https://a.example${own}`)
    expect(logoUrlAt('https://a.example', 'https://cdn.example/a.svg')).toBe('https://cdn.example/a.svg')
    expect(logoUrlAt('https://a.example', null)).toBeNull()
  })

  test('stays when an input repeats the URL that the API returns', () => {
    expect(changedLogo({ logoUrl: own }, `https://a.example${own}`, undefined)).toBeUndefined()
    expect(changedLogo({ logoUrl: own }, undefined, undefined)).toBeUndefined()
    expect(changedLogo({ logoUrl: own }, null, undefined)).toBeNull()
    expect(changedLogo({ logoUrl: own }, 'https://b.example/', undefined)).toBe('https://b.example/')
  })
})
