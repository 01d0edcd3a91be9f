/** A block that holds no others. */
export interface Leaf {
  /** Whether it is given whole lines, as long as they are in its containers. */
  readonly takesLines: boolean
  /** Takes a line: it is part of the block, the last one of it, or not one of it. */
  line?(line: string): 'taken' | 'last' | 'not'
  /** There is no more of it. */
  end(): void
}

/** A block that is shown while its lines come. */
export interface Flowing extends Leaf {
  push(text: string): void
  endLine(): void
}
