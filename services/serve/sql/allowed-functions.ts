/**
 * Functions a query may call: they only compute from their arguments, and their work is proportional to the size of those. Left out
 * are functions that read or reach anything else (`file`, `dictGet`, `getSetting`, `aiGenerate`), that name another function in a
 * text (`arrayReduce`), that wait (`sleep`) or whose cost is quadratic (`editDistance`): the engine checks its clock between blocks.
 */
const words = (text: string): string[] => text.trim().split(/\s+/)

/** Each with the suffixes `…OrNull`, `…OrZero` and `…OrDefault`. */
const CONVERSIONS = words(`
  toInt8 toInt16 toInt32 toInt64 toInt128 toInt256 toUInt8 toUInt16 toUInt32 toUInt64 toUInt128 toUInt256
  toFloat32 toFloat64 toDecimal32 toDecimal64 toDecimal128 toDecimal256 toDate toDate32 toDateTime toDateTime64
  parseDateTimeBestEffort parseDateTimeBestEffortUS parseDateTime64BestEffort parseDateTime accurateCast toUUID`)

const SCALARS = words(`
  and or not xor if multiIf caseWithExpression coalesce ifNull nullIf isNull isNotNull isNullable assumeNotNull toNullable isZeroOrNull
  equals notEquals less greater lessOrEquals greaterOrEquals in notIn isDistinctFrom isNotDistinctFrom exists
  greatest least clamp lambda tuple tupleElement untuple array arrayElement arrayElementOrNull map identity materialize

  plus minus multiply divide intDiv intDivOrZero intDivOrNull divideOrNull modulo mod moduloOrZero moduloOrNull positiveModulo negate abs
  gcd lcm max2 min2 avg2 midpoint isFinite isInfinite isNaN ifNotFinite multiplyDecimal divideDecimal
  pi e exp exp2 exp10 log ln log2 log10 log1p sqrt cbrt pow power sqr sign sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh
  hypot degrees radians erf erfc lgamma tgamma sigmoid factorial intExp2 intExp10 widthBucket width_bucket
  round roundBankers floor ceil ceiling trunc truncate roundToExp2 roundDown
  bitAnd bitOr bitXor bitNot bitShiftLeft bitShiftRight bitTest bitCount
  financialInternalRateOfReturn financialNetPresentValue

  CAST _CAST toString toBool toFixedString toLowCardinality toDecimalString toStringCutToZero toTypeName reinterpretAsUInt64 reinterpretAsUInt256
  fromUnixTimestamp fromUnixTimestamp64Milli fromUnixTimestamp64Second FROM_UNIXTIME toUnixTimestamp toUnixTimestamp64Milli
  toUnixTimestamp64Second DATE timestamp toInterval toIntervalSecond toIntervalMinute toIntervalHour toIntervalDay toIntervalWeek
  toIntervalMonth toIntervalQuarter toIntervalYear toIntervalMillisecond

  now now64 today yesterday UTCTimestamp current_timestamp current_date curdate timezone timezoneOf timezoneOffset toTimezone serverTimezone
  makeDate makeDateTime dateDiff date_diff timestampDiff dateTrunc date_trunc age dateName monthName formatDateTime DATE_FORMAT
  addSeconds addMinutes addHours addDays addWeeks addMonths addQuarters addYears addInterval addDate addMilliseconds
  subtractSeconds subtractMinutes subtractHours subtractDays subtractWeeks subtractMonths subtractQuarters subtractYears subtractInterval
  subDate subtractMilliseconds
  toSecond toMinute toHour toDayOfMonth toDayOfWeek toDayOfYear toWeek toISOWeek toISOYear toMonth toQuarter toYear toYearWeek toMonday
  toMillisecond second minute hour day dayOfWeek dayOfMonth dayOfYear month quarter year week toLastDayOfMonth toLastDayOfWeek toDaysInMonth
  toStartOfSecond toStartOfMinute toStartOfFiveMinutes toStartOfFiveMinute toStartOfTenMinutes toStartOfFifteenMinutes toStartOfHour
  toStartOfDay toStartOfWeek toStartOfMonth toStartOfQuarter toStartOfYear toStartOfISOYear toStartOfInterval time_bucket date_bin
  toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss timeSlot timeSlots toRelativeDayNum toRelativeHourNum toRelativeMinuteNum toRelativeSecondNum
  toRelativeWeekNum toRelativeMonthNum toRelativeYearNum toModifiedJulianDay

  length empty notEmpty lower upper lcase ucase lowerUTF8 upperUTF8 lengthUTF8 char_length character_length concat concat_ws
  concatWithSeparator substring substr mid substringUTF8 left right leftUTF8 rightUTF8 leftPad rightPad lpad rpad trim trimBoth trimLeft
  trimRight ltrim rtrim reverse reverseUTF8 startsWith endsWith startsWithCaseInsensitive endsWithCaseInsensitive initcap ascii isValidUTF8
  toValidUTF8 substringIndex SUBSTRING_INDEX position locate positionCaseInsensitive instr positionUTF8 like ilike notLike notILike match
  extract extractAll extractGroups regexpExtract countSubstrings countMatches hasToken multiSearchAny multiSearchAnyCaseInsensitive
  multiSearchFirstIndex replace replaceAll replaceOne replaceRegexpOne replaceRegexpAll regexp_replace translate format printf
  splitByChar splitByString splitByWhitespace splitByNonAlpha arrayStringConcat alphaTokens repeat space
  hex unhex bin unbin char base58Encode base58Decode base64Encode base64Decode tryBase58Decode tryBase64Decode
  formatReadableSize formatReadableDecimalSize formatReadableQuantity formatReadableTimeDelta bar transform
  cityHash64 sipHash64 xxHash64 xxHash32 murmurHash3_64 halfMD5 MD5 SHA1 SHA256 keccak256 intHash64 intHash32

  range arrayJoin unnest arrayMap arrayFilter arrayCount arrayExists arrayAll arrayFirst arrayLast arrayFirstIndex arrayLastIndex arrayFirstOrNull
  arrayLastOrNull arraySum arrayAvg arrayMin arrayMax arrayProduct arrayCumSum arrayCumSumNonNegative arrayDifference arrayDistinct
  arrayUniq arrayEnumerate arrayEnumerateUniq arrayEnumerateDense arraySort arrayReverseSort arrayPartialSort arrayReverse arraySlice
  arrayConcat arrayPushBack arrayPushFront arrayPopBack arrayPopFront arrayResize arrayZip arrayCompact arrayFill arrayReverseFill
  arraySplit arrayReverseSplit arrayFlatten flatten arrayIntersect arrayUnion arrayExcept arrayShiftLeft arrayShiftRight arrayRotateLeft
  arrayRotateRight arrayTopK arrayBottomK arrayDotProduct has hasAll hasAny indexOf countEqual emptyArrayToSingle arrayWithConstant
  tupleToNameValuePairs tupleNames tuplePlus tupleMinus tupleMultiplyByNumber tupleDivideByNumber
  mapKeys mapValues mapContains mapContainsKey mapFromArrays mapFilter mapApply mapAdd mapSubtract mapSort
  JSONHas JSONLength JSONType JSONExtract JSONExtractString JSONExtractInt JSONExtractUInt JSONExtractFloat JSONExtractBool
  JSONExtractRaw JSONExtractArrayRaw JSONExtractKeys JSONExtractKeysAndValues toJSONString isValidJSON

  version currentDatabase DATABASE grouping tumble tumbleStart tumbleEnd seriesOutliersDetectTukey`)

/** Each also with the suffixes below. */
const AGGREGATES = words(`
  count sum avg min max any anyLast any_value anyHeavy first_value last_value any_respect_nulls anyLast_respect_nulls argMin argMax min_by max_by
  sumKahan sumWithOverflow sumCount sumMap minMap maxMap sumMappedArrays minMappedArrays maxMappedArrays avgWeighted
  uniq uniqExact uniqCombined uniqCombined64 uniqHLL12 uniqUpTo
  median quantile quantileExact quantileExactLow quantileExactHigh quantileExactInclusive quantileExactExclusive quantileTDigest
  quantileDeterministic quantileExactWeighted quantileTDigestWeighted quantileInterpolatedWeighted medianExact medianTDigest
  quantiles quantilesExact quantilesTDigest quantilesExactWeighted
  stddevPop stddevSamp varPop varSamp covarPop covarSamp corr stddevPopStable stddevSampStable varPopStable varSampStable covarPopStable
  covarSampStable corrStable stddev_pop stddev_samp var_pop var_samp covar_pop covar_samp std stddev skewPop skewSamp kurtPop kurtSamp
  rankCorr simpleLinearRegression entropy
  groupArray groupUniqArray groupArrayLast groupArraySorted groupArraySample groupArrayMovingSum groupArrayMovingAvg groupConcat array_agg
  group_concat string_agg groupBitAnd groupBitOr groupBitXor topK topKWeighted approx_top_k approx_top_sum histogram
  deltaSum deltaSumTimestamp exponentialMovingAverage exponentialTimeDecayedAvg exponentialTimeDecayedSum boundingRatio
  maxIntersections intervalLengthSum windowFunnel retention singleValueOrNull sparkbar largestTriangleThreeBuckets lttb nonNegativeDerivative
  row_number rank dense_rank denseRank percent_rank percentRank cume_dist ntile lag lead lagInFrame leadInFrame nth_value`)

const SUFFIX = /(if|array|distinct|ornull|ordefault|foreach|argmin|argmax)$/

const conversions = CONVERSIONS.flatMap((name) => ['', 'OrNull', 'OrZero', 'OrDefault'].map((suffix) => name + suffix))
/** For clients that list them. */
export const SCALAR_NAMES: readonly string[] = [...SCALARS, ...CONVERSIONS]
export const AGGREGATE_NAMES: readonly string[] = AGGREGATES

const scalars = new Set([...SCALARS, ...conversions].map((name) => name.toLowerCase()))
const aggregates = new Set(AGGREGATES.map((name) => name.toLowerCase()))

/** Whatever its case: no two functions of the engine differ in case alone, of which one may be called and the other not (tested). */
export function isAllowedFunction(name: string): boolean {
  const lower = name.toLowerCase()
  return scalars.has(lower) || isAllowedAggregate(lower)
}

function isAllowedAggregate(lower: string): boolean {
  if (aggregates.has(lower)) return true
  const base = lower.replace(SUFFIX, '')
  return base !== lower && isAllowedAggregate(base)
}
