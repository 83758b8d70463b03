// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

// A trial of a token: a purchase, a sale and a transfer in one eth_call. Nothing is deployed: the node runs `Trial`
// with its code placed at an unused address (a state override), which also gives it the quote tokens to pay with.
// trade-trial.ts has the compiled code. To compile: solc 0.8.28, optimizer 200 runs, evmVersion paris, no metadata hash.

struct Plan {
    address token;
    address quote;
    address pool;
    // 0: Uniswap V2 and forks. 1: Solidly. 2: Uniswap V3 and forks.
    uint256 kind;
    // Hundredths of a basis point: what the pool keeps of a trade. Kind 0 only.
    uint256 fee;
    // Quote tokens to pay, and for a large purchase.
    uint256 amount;
    uint256 largeAmount;
    // 0: buy, sell half, transfer a quarter, sell all. 1: sell all. 2: transfer. 3: a large purchase, then sell all.
    uint256 mode;
    // Unpredictable, so that no contract can know the trial's addresses.
    bytes32 salt;
    address receiver;
}

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
        require(works(plan.quote, abi.encodeWithSelector(0xa9059cbb, plan.pool, amount), STEP_GAS));
        return swapPaid(plan.quote, amount);
    }

    // What arrived in the pool; the quote tokens go to the caller.
    function sell(uint256 amount) external returns (uint256 arrived) {
        seller = msg.sender;
        if (plan.kind == 2) {
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
        uint160 limit = zeroIn ? 4295128740 : 1461446703485210103287273052203988822378723970341;
        (bool ok, bytes memory answer) = plan.pool.call{gas: STEP_GAS}(
            abi.encodeWithSelector(0x128acb08, msg.sender, zeroIn, int256(amountIn), limit, new bytes(0))
        );
        require(ok && answer.length >= 64);
        (int256 amount0, int256 amount1) = abi.decode(answer, (int256, int256));
        int256 out = zeroIn ? -amount1 : -amount0;
        require(out > 0);
        return uint256(out);
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
        if (balance(plan.quote, msg.sender) >= amount) found[0] |= 1;
        bool goesOn = true;
        if (plan.mode == 0 || plan.mode == 3) {
            uint256 left = gasleft();
            (bool ok, bytes memory answer) = address(trial).call{gas: STEP_GAS}(
                abi.encodeWithSelector(Trial.buy.selector, amount)
            );
            found[8] = left - gasleft();
            goesOn = ok;
            if (ok) {
                found[0] |= 2;
                found[1] = abi.decode(answer, (uint256));
                found[2] = balance(plan.token, address(this));
            }
        }
        if (goesOn && plan.mode != 2) {
            uint256 left = gasleft();
            if (works(plan.token, abi.encodeWithSelector(0x095ea7b3, msg.sender, type(uint256).max), STEP_GAS)) found[0] |= 8;
            found[10] = left - gasleft();
        }
        if (goesOn && plan.mode == 0) sellHalf(trial, plan, found);
        if (goesOn && (plan.mode == 0 || plan.mode == 2)) transferQuarter(plan, found);
        if (goesOn && plan.mode != 2) {
            uint256 rest = balance(plan.token, address(this));
            found[12] = rest;
            (bool ok, bytes memory answer) = address(trial).call{gas: STEP_GAS}(
                abi.encodeWithSelector(Trial.sell.selector, rest)
            );
            if (ok && rest > 0) found[0] |= 32;
            if (ok && plan.mode == 1) (found[6], found[7]) = (rest, abi.decode(answer, (uint256)));
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
        (bool ok, bytes memory answer) = address(trial).call{gas: STEP_GAS}(
            abi.encodeWithSelector(Trial.sell.selector, half)
        );
        found[11] = left - gasleft();
        if (ok) {
            found[0] |= 16;
            found[7] = abi.decode(answer, (uint256));
            return;
        }
        (ok, answer) = address(trial).call{gas: STEP_GAS}(abi.encodeWithSelector(Trial.pay.selector, half));
        if (!ok) return;
        found[0] |= 64;
        found[7] = abi.decode(answer, (uint256));
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
