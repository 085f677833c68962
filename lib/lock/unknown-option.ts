/** At least this many letters of a known name suggest that name: `wait` suggests `waitMs`. */
const MIN_BEGINNING = 3;

/** Describes an unknown option: which options there are, and which one was most likely meant. */
export function describeUnknownOption(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  return `is not an option (the options are: ${known.join(', ')})${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  // In a short name two slips would match almost any other name.
  const most = written.length < 5 ? 1 : 2;
  const near = (slips: number): string | undefined => known.find((one) => isNear(written, one.toLowerCase(), slips));
  const beginsSo = (one: string): boolean => written.length >= MIN_BEGINNING && one.toLowerCase().startsWith(written);
  // Another case is the likeliest mistake, then a beginning of the name, then slips of the pen.
  return near(0) ?? known.find(beginsSo) ?? near(1) ?? near(most);
}

/** Whether `slips` characters left out, added or exchanged turn one name into the other. */
function isNear(left: string, right: string, slips: number): boolean {
  if (Math.abs(left.length - right.length) > slips) return false;
  if (left === '' || right === '') return true;
  const [restOfLeft, restOfRight] = [left.slice(1), right.slice(1)];
  if (left.charAt(0) === right.charAt(0)) return isNear(restOfLeft, restOfRight, slips);
  return (
    slips > 0 &&
    (isNear(restOfLeft, restOfRight, slips - 1) ||
      isNear(restOfLeft, right, slips - 1) ||
      isNear(left, restOfRight, slips - 1))
  );
}
