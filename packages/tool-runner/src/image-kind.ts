/** The largest image that model servers take is 5 MB, in base64. */
export const LARGEST_IMAGE_BYTES = 3_750_000

/** Image formats that models take, by the bytes that their files begin with. */
const FORMATS: readonly (readonly [type: string, matches: (start: Buffer) => boolean])[] = [
  ['image/png', (start) => start.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['image/jpeg', (start) => start.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  ['image/gif', (start) => /^GIF8[79]a/.test(start.toString('latin1', 0, 6))],
  ['image/webp', (start) => start.toString('latin1', 0, 4) === 'RIFF' && start.toString('latin1', 8, 12) === 'WEBP'],
]

/** The media type of the image whose file begins with `start`; undefined for anything that is no image, whatever its name says. */
export function imageType(start: Buffer): string | undefined {
  return FORMATS.find(([, matches]) => matches(start))?.[0]
}
