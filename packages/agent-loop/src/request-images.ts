import type { Image } from './conversation.js'

/** How base64 of the kinds that every model takes begins. A server refuses data that is not of the type that is told. */
const BEGINNINGS: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/** `image` with the type that its data has; undefined where no model takes it, or it is not base64. */
export function requestImage(image: Image): Image | undefined {
  const type = BEGINNINGS.find(([start]) => image.data.startsWith(start))?.[1]
  if (type === undefined || image.data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(image.data)) return undefined
  return type === image.type ? image : { data: image.data, type }
}

/** What stands in place of an image that can't be sent. */
export const NO_IMAGE = '(an image that cannot be shown)'
