// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

// A trial of a token: a purchase, a sale and a transfer in one eth_call. Nothing is deployed: the node runs `Trial`
// with its code placed at an unused address (a state override), which also gives it the quote tokens to pay with.
// trade-trial.ts has the compiled code. To compile: solc 0.8.28, optimizer 200 runs, evmVersion paris, no metadata hash.

struct Plan {
    address token;
    address quote;
    address pool;
    // 0: Uniswap V2 and forks. 1: Solidly. 2: Uniswap V3 and forks. 3: Uniswap V4, whose manager is the pool. 4: Curve.
    // 5, 6: Balancer V2 and V3, whose vault is the pool.
    uint256 kind;
    // Hundredths of a basis point: what the pool keeps of a trade. Kind 0, and in the pool's key of kind 3.
    uint256 fee;
    // Quote tokens to pay, and for a large purchase.
    uint256 amount;
    uint256 largeAmount;
    // 0: buy, sell half, transfer a quarter, sell all. 1: sell all. 2: transfer. 3: a large purchase, then sell all.
    uint256 mode;
    // Unpredictable, so that no contract can know the trial's addresses.
    bytes32 salt;
    address receiver;
    // Kind 5: the pool's id. Kind 6: the pool.
    bytes32 id;
    // Kind 3: the rest of the pool's key; the quote may be the chain's coin.
    int24 tickSpacing;
    address hooks;
    bool isNative;
    // Kind 4: places of the coins.
    uint256 tokenPlace;
    uint256 quotePlace;
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

struct SingleSwap {
    bytes32 poolId;
    uint8 kind;
    address assetIn;
    address assetOut;
    uint256 amount;
    bytes userData;
}

struct VaultSwapParams {
    uint8 kind;
    address pool;
    address tokenIn;
    address tokenOut;
    uint256 amountGivenRaw;
    uint256 limitRaw;
    bytes userData;
}

// Of Uniswap V4's manager and Balancer V3's vault.
interface IUnlocked {
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(PoolKey memory key, SwapParams memory params, bytes calldata data) external returns (int256);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
    function swap(VaultSwapParams memory params) external returns (uint256, uint256, uint256);
    function settle(address token, uint256 hint) external returns (uint256);
    function sendTo(address token, address to, uint256 amount) external;
}

uint160 constant LOWEST_LIMIT = 4295128740;
uint160 constant HIGHEST_LIMIT = 1461446703485210103287273052203988822378723970341;

uint256 constant STEP_GAS = 4_000_000;
uint256 constant VIEW_GAS = 500_000;

function balance(address token, address holder) view returns (uint256) {
    return word(token, abi.encodeWithSelector(0x70a08231, holder), 0);
}

// 0 where it does not answer.
function word(address to, bytes memory data, uint256 place) view returns (uint256 value) {
    (bool ok, bytes memory answer) = to.staticcall{gas: VIEW_GAS}(data);
    if (!ok || answer.length < (place + 1) * 32) return 0;
    assembly {
        value := mload(add(add(answer, 32), mul(place, 32)))
    }
}

// Old tokens return nothing; `false` means it failed.
function works(address to, bytes memory data, uint256 gasLimit) returns (bool) {
    (bool ok, bytes memory answer) = to.call{gas: gasLimit}(data);
    return ok && (answer.length == 0 || (answer.length >= 32 && abi.decode(answer, (uint256)) == 1));
}

contract Trial {
    Plan private plan;
    // Who pays the pool when it calls back: the trader's tokens in a sale.
    address private seller;

    function planned() external view returns (Plan memory) {
        return plan;
    }

    // Answers the trader's findings: see `Trader`.
    function run(Plan calldata given) external {
        plan = given;
        bytes memory code = type(Trader).creationCode;
        bytes32 salt = given.salt;
        assembly {
            // The constructor always reverts, with its findings.
            pop(create2(0, add(code, 32), mload(code), salt))
            returndatacopy(0, 0, returndatasize())
            return(0, returndatasize())
        }
    }

    // What the pool sent; the tokens go to the caller.
    function buy(uint256 amount) external returns (uint256) {
        if (plan.kind == 2) return swapThroughCallback(plan.quote, amount);
        if (plan.kind == 3 || plan.kind == 6) return swapUnlocked(false, amount);
        require(works(plan.quote, abi.encodeWithSelector(0xa9059cbb, plan.pool, amount), STEP_GAS));
        return swapPaid(plan.quote, amount);
    }

    // What arrived in the pool; the quote tokens go to the caller.
    function sell(uint256 amount) external returns (uint256 arrived) {
        seller = msg.sender;
        if (plan.kind == 3 || plan.kind == 6) {
            arrived = swapUnlocked(true, amount);
        } else if (plan.kind == 2) {
            uint256 held = balance(plan.token, plan.pool);
            swapThroughCallback(plan.token, amount);
            arrived = balance(plan.token, plan.pool) - held;
        } else {
            uint256 held = balance(plan.token, plan.pool);
            require(pull(amount));
            arrived = balance(plan.token, plan.pool) - held;
            swapPaid(plan.token, arrived);
        }
        seller = address(0);
    }

    // What a sale's first half moves, where the sale itself fails.
    function pay(uint256 amount) external returns (uint256) {
        seller = msg.sender;
        uint256 held = balance(plan.token, plan.pool);
        require(pull(amount));
        return balance(plan.token, plan.pool) - held;
    }

    function pull(uint256 amount) private returns (bool) {
        return works(plan.token, abi.encodeWithSelector(0x23b872dd, seller, plan.pool, amount), STEP_GAS);
    }

    function isZero(address tokenIn) private view returns (bool) {
        return tokenIn == plan.token ? plan.token < plan.quote : plan.quote < plan.token;
    }

    function swapPaid(address tokenIn, uint256 amountIn) private returns (uint256 out) {
        bool zeroIn = isZero(tokenIn);
        if (plan.kind == 1) {
            out = word(plan.pool, abi.encodeWithSelector(0xf140a35a, amountIn, tokenIn), 0);
            require(out > 0 && swap(zeroIn, out));
            return out;
        }
        uint256 reserveIn = word(plan.pool, abi.encodeWithSelector(0x0902f1ac), zeroIn ? 0 : 1);
        uint256 reserveOut = word(plan.pool, abi.encodeWithSelector(0x0902f1ac), zeroIn ? 1 : 0);
        // A pool of an unknown exchange may keep more than its kind does.
        uint256[3] memory fees = [plan.fee, 10_000, 50_000];
        for (uint256 i = 0; i < 3; i++) {
            uint256 paid = amountIn * (1_000_000 - fees[i]);
            out = (paid * reserveOut) / (reserveIn * 1_000_000 + paid);
            if (out > 0 && swap(zeroIn, out)) return out;
        }
        revert();
    }

    function swap(bool zeroIn, uint256 out) private returns (bool ok) {
        (ok, ) = plan.pool.call{gas: STEP_GAS}(
            abi.encodeWithSelector(0x022c0d9f, zeroIn ? 0 : out, zeroIn ? out : 0, msg.sender, new bytes(0))
        );
    }

    function swapThroughCallback(address tokenIn, uint256 amountIn) private returns (uint256) {
        bool zeroIn = isZero(tokenIn);
        uint160 limit = zeroIn ? LOWEST_LIMIT : HIGHEST_LIMIT;
        (bool ok, bytes memory answer) = plan.pool.call{gas: STEP_GAS}(
            abi.encodeWithSelector(0x128acb08, msg.sender, zeroIn, int256(amountIn), limit, new bytes(0))
        );
        require(ok && answer.length >= 64);
        (int256 amount0, int256 amount1) = abi.decode(answer, (int256, int256));
        int256 out = zeroIn ? -amount1 : -amount0;
        require(out > 0);
        return uint256(out);
    }

    // Quote tokens for a trader who pays the pool itself.
    function fund(uint256 amount) external {
        require(works(plan.quote, abi.encodeWithSelector(0xa9059cbb, msg.sender, amount), STEP_GAS));
    }

    // What arrived in a sale; what the pool sent in a purchase. Kind 3 calls `unlockCallback`, kind 6 what it is given.
    function swapUnlocked(bool isSale, uint256 amount) private returns (uint256) {
        bytes memory trade = abi.encode(isSale, amount, msg.sender);
        if (plan.kind == 6) trade = abi.encodeCall(Trial.unlockCallback, (trade));
        bytes memory answer = IUnlocked(plan.pool).unlock{gas: STEP_GAS}(trade);
        // Bytes within the answer's bytes: each call back encodes its own.
        (uint256 paid, uint256 out) = abi.decode(abi.decode(plan.kind == 6 ? answer : abi.encode(answer), (bytes)), (uint256, uint256));
        require(out > 0);
        return isSale ? paid : out;
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == plan.pool);
        (bool isSale, uint256 amount, address to) = abi.decode(data, (bool, uint256, address));
        (uint256 paid, uint256 out) = plan.kind == 6 ? tradeInVault(isSale, amount, to) : tradeInManager(isSale, amount, to);
        return abi.encode(paid, out);
    }

    // Pays before it swaps: of a taxed token less arrives than was sent.
    function tradeInManager(bool isSale, uint256 amount, address to) private returns (uint256 paid, uint256 out) {
        IUnlocked manager = IUnlocked(plan.pool);
        address quote = plan.isNative ? address(0) : plan.quote;
        bool zeroIn = isSale ? plan.token < quote : quote < plan.token;
        if (!isSale && plan.isNative) {
            paid = manager.settle{value: amount}();
        } else {
            manager.sync(isSale ? plan.token : quote);
            payPool(isSale, amount);
            paid = manager.settle();
        }
        PoolKey memory key = PoolKey(
            plan.token < quote ? plan.token : quote,
            plan.token < quote ? quote : plan.token,
            uint24(plan.fee),
            plan.tickSpacing,
            plan.hooks
        );
        int256 delta = manager.swap(key, SwapParams(zeroIn, -int256(paid), zeroIn ? LOWEST_LIMIT : HIGHEST_LIMIT), "");
        out = uint256(uint128(uint256(zeroIn ? delta : delta >> 128)));
        manager.take(isSale ? quote : plan.token, to, out);
    }

    function tradeInVault(bool isSale, uint256 amount, address to) private returns (uint256 paid, uint256 out) {
        IUnlocked vault = IUnlocked(plan.pool);
        (address tokenIn, address tokenOut) = isSale ? (plan.token, plan.quote) : (plan.quote, plan.token);
        payPool(isSale, amount);
        paid = vault.settle(tokenIn, amount);
        address pool = address(uint160(uint256(plan.id)));
        (, , out) = vault.swap(VaultSwapParams(0, pool, tokenIn, tokenOut, paid, 0, ""));
        vault.sendTo(tokenOut, to, out);
    }

    function payPool(bool isSale, uint256 amount) private {
        if (isSale) require(pull(amount));
        else require(works(plan.quote, abi.encodeWithSelector(0xa9059cbb, plan.pool, amount), STEP_GAS));
    }

    // The pools of kind 2 call back under different names, with the same arguments.
    fallback() external {
        require(msg.sender == plan.pool);
        (int256 amount0, int256 amount1) = abi.decode(msg.data[4:], (int256, int256));
        uint256 owed = uint256(amount0 > 0 ? amount0 : amount1);
        if (seller != address(0)) require(pull(owed));
        else require(works(plan.quote, abi.encodeWithSelector(0xa9059cbb, plan.pool, owed), STEP_GAS));
    }
}

// Trades while it is constructed: it has no code yet, as the address of a person has none.
contract Trader {
    constructor() {
        Trial trial = Trial(payable(msg.sender));
        Plan memory plan = trial.planned();
        // 0: steps that worked, by bit (1 funded, 2 bought, 4 transferred, 8 approved, 16 sold, 32 sold all, 64 paid the pool).
        // 1, 2: sent by the pool, received. 3, 4, 5: transferred, arrived, left the sender. 6, 7: sold, arrived in the pool.
        // Mode 1: of the sale of all.
        // 8 .. 11: gas of the purchase, the transfer, the approval, the sale. 12: balance before selling all, 13: after.
        uint256[14] memory found;
        uint256 amount = plan.mode == 3 ? plan.largeAmount : plan.amount;
        if (isUsable(plan) && (plan.isNative ? msg.sender.balance : balance(plan.quote, msg.sender)) >= amount) found[0] |= 1;
        bool goesOn = true;
        if (plan.mode == 0 || plan.mode == 3) {
            uint256 left = gasleft();
            (bool ok, uint256 sent) = buy(trial, plan, amount);
            found[8] = left - gasleft();
            goesOn = ok;
            if (ok) {
                found[0] |= 2;
                found[1] = sent;
                found[2] = balance(plan.token, address(this));
            }
        }
        if (goesOn && plan.mode != 2) {
            uint256 left = gasleft();
            if (allow(plan, plan.token)) found[0] |= 8;
            found[10] = left - gasleft();
        }
        if (goesOn && plan.mode == 0) sellHalf(trial, plan, found);
        if (goesOn && (plan.mode == 0 || plan.mode == 2)) transferQuarter(plan, found);
        if (goesOn && plan.mode != 2) {
            uint256 rest = balance(plan.token, address(this));
            found[12] = rest;
            (bool ok, uint256 arrived) = sell(trial, plan, rest);
            if (ok && rest > 0) found[0] |= 32;
            if (ok && plan.mode == 1) (found[6], found[7]) = (rest, arrived);
            found[13] = balance(plan.token, address(this));
        }
        assembly {
            revert(found, 448)
        }
    }

    function sellHalf(Trial trial, Plan memory plan, uint256[14] memory found) private {
        uint256 half = balance(plan.token, address(this)) / 2;
        found[6] = half;
        uint256 left = gasleft();
        (bool ok, uint256 arrived) = sell(trial, plan, half);
        found[11] = left - gasleft();
        if (ok) {
            found[0] |= 16;
            found[7] = arrived;
            return;
        }
        if (isDirect(plan)) return;
        bytes memory answer;
        (ok, answer) = address(trial).call{gas: STEP_GAS}(abi.encodeWithSelector(Trial.pay.selector, half));
        if (!ok) return;
        found[0] |= 64;
        found[7] = abi.decode(answer, (uint256));
    }

    // Kinds 4 and 5 take the tokens from who calls them.
    function isDirect(Plan memory plan) private pure returns (bool) {
        return plan.kind == 4 || plan.kind == 5;
    }

    // Curve's pools of the chain's coin take no token for it.
    function isUsable(Plan memory plan) private view returns (bool) {
        if (plan.kind != 4) return true;
        return coin(plan.pool, plan.tokenPlace) == plan.token && coin(plan.pool, plan.quotePlace) == plan.quote;
    }

    function coin(address pool, uint256 place) private view returns (address) {
        uint256 found = word(pool, abi.encodeWithSelector(0xc6610657, place), 0);
        if (found == 0) found = word(pool, abi.encodeWithSelector(0x23746eb8, place), 0);
        return address(uint160(found));
    }

    function allow(Plan memory plan, address token) private returns (bool) {
        address spender = isDirect(plan) ? plan.pool : msg.sender;
        return works(token, abi.encodeWithSelector(0x095ea7b3, spender, type(uint256).max), STEP_GAS);
    }

    // What the pool sent.
    function buy(Trial trial, Plan memory plan, uint256 amount) private returns (bool ok, uint256 sent) {
        bytes memory answer;
        if (!isDirect(plan)) {
            (ok, answer) = address(trial).call{gas: STEP_GAS}(abi.encodeWithSelector(Trial.buy.selector, amount));
            return (ok, ok ? abi.decode(answer, (uint256)) : 0);
        }
        (ok, ) = address(trial).call{gas: STEP_GAS}(abi.encodeWithSelector(Trial.fund.selector, amount));
        if (!ok || !allow(plan, plan.quote)) return (false, 0);
        uint256 held = balance(plan.token, plan.pool);
        if (!trade(plan, false, amount)) return (false, 0);
        return (true, held - balance(plan.token, plan.pool));
    }

    // What arrived in the pool.
    function sell(Trial trial, Plan memory plan, uint256 amount) private returns (bool ok, uint256 arrived) {
        bytes memory answer;
        if (!isDirect(plan)) {
            (ok, answer) = address(trial).call{gas: STEP_GAS}(abi.encodeWithSelector(Trial.sell.selector, amount));
            return (ok, ok ? abi.decode(answer, (uint256)) : 0);
        }
        uint256 held = balance(plan.token, plan.pool);
        if (!trade(plan, true, amount)) return (false, 0);
        return (true, balance(plan.token, plan.pool) - held);
    }

    function trade(Plan memory plan, bool isSale, uint256 amount) private returns (bool ok) {
        if (plan.kind == 5) {
            (address tokenIn, address tokenOut) = isSale ? (plan.token, plan.quote) : (plan.quote, plan.token);
            SingleSwap memory single = SingleSwap(plan.id, 0, tokenIn, tokenOut, amount, "");
            (ok, ) = plan.pool.call{gas: STEP_GAS}(
                abi.encodeWithSelector(0x52bbbe29, single, address(this), false, address(this), false, 0, type(uint256).max)
            );
            return ok;
        }
        (uint256 from, uint256 to) = isSale ? (plan.tokenPlace, plan.quotePlace) : (plan.quotePlace, plan.tokenPlace);
        (ok, ) = plan.pool.call{gas: STEP_GAS}(abi.encodeWithSelector(0x3df02124, from, to, amount, 0));
        if (!ok) (ok, ) = plan.pool.call{gas: STEP_GAS}(abi.encodeWithSelector(0x5b41b908, from, to, amount, 0));
    }

    function transferQuarter(Plan memory plan, uint256[14] memory found) private {
        uint256 held = balance(plan.token, address(this));
        uint256 quarter = held / 4;
        found[3] = quarter;
        uint256 before = balance(plan.token, plan.receiver);
        uint256 left = gasleft();
        bool ok = works(plan.token, abi.encodeWithSelector(0xa9059cbb, plan.receiver, quarter), STEP_GAS);
        found[9] = left - gasleft();
        if (!ok) return;
        found[0] |= 4;
        found[4] = balance(plan.token, plan.receiver) - before;
        found[5] = held - balance(plan.token, address(this));
    }
}
