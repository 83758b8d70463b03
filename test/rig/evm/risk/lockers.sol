// SPDX-License-Identifier: Apache-2.0
// Stand-ins of the same public interface as UNCX's UniswapV2Locker, V3 and V4 lockers, Uniswap's V4 PositionManager, PinkLock02, PinkLock and Team Finance's LockToken.
// compile.ts compiles them into tokens.json.
pragma solidity >=0.8.20 <0.9.0;

interface IToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function balanceOf(address holder) external view returns (uint256);
}

contract UncxLocker {
    struct TokenLock {
        uint256 lockDate;
        uint256 amount;
        uint256 initialAmount;
        uint256 unlockDate;
        uint256 lockID;
        address owner;
    }

    mapping(address => TokenLock[]) public tokenLocks;

    event onDeposit(address lpToken, address user, uint256 amount, uint256 lockDate, uint256 unlockDate);
    event onWithdraw(address lpToken, uint256 amount);

    function getNumLocksForToken(address token) external view returns (uint256) {
        return tokenLocks[token].length;
    }

    function lockLPToken(address token, uint256 amount, uint256 unlockDate) external {
        IToken(token).transferFrom(msg.sender, address(this), amount);
        tokenLocks[token].push(
            TokenLock(block.timestamp, amount, amount, unlockDate, tokenLocks[token].length, msg.sender)
        );
        emit onDeposit(token, msg.sender, amount, block.timestamp, unlockDate);
    }

    function withdraw(address token, uint256 index, uint256 amount) external {
        TokenLock storage lock = tokenLocks[token][index];
        require(lock.owner == msg.sender && lock.unlockDate <= block.timestamp && lock.amount >= amount, "locked");
        lock.amount -= amount;
        IToken(token).transfer(msg.sender, amount);
        emit onWithdraw(token, amount);
    }
}

contract PinkLocker {
    struct Lock {
        uint256 id;
        address token;
        address owner;
        uint256 amount;
        uint256 lockDate;
        uint256 tgeDate;
        uint256 tgeBps;
        uint256 cycle;
        uint256 cycleBps;
        uint256 unlockedAmount;
        string description;
    }

    mapping(address => Lock[]) private locks;

    event LockAdded(uint256 indexed id, address token, address owner, uint256 amount, uint256 unlockDate);
    event LockRemoved(uint256 indexed id, address token, address owner, uint256 amount, uint256 unlockedAt);
    event LockVested(
        uint256 indexed id,
        address token,
        address owner,
        uint256 amount,
        uint256 remaining,
        uint256 timestamp
    );

    function totalLockCountForToken(address token) external view returns (uint256) {
        return locks[token].length;
    }

    function getLocksForToken(address token, uint256 start, uint256 end) external view returns (Lock[] memory found) {
        if (end >= locks[token].length) end = locks[token].length - 1;
        found = new Lock[](end - start + 1);
        for (uint256 i = start; i <= end; i++) found[i - start] = locks[token][i];
    }

    function vestingLock(
        address token,
        uint256 amount,
        uint256 tgeDate,
        uint256 tgeBps,
        uint256 cycle,
        uint256 cycleBps
    ) external {
        IToken(token).transferFrom(msg.sender, address(this), amount);
        uint256 id = locks[token].length;
        locks[token].push(
            Lock(id, token, msg.sender, amount, block.timestamp, tgeDate, tgeBps, cycle, cycleBps, 0, "a description")
        );
        emit LockAdded(id, token, msg.sender, amount, tgeDate);
    }

    function withdrawableTokens(address token, uint256 id) public view returns (uint256) {
        Lock storage lock = locks[token][id];
        if (block.timestamp < lock.tgeDate) return 0;
        if (lock.tgeBps == 0) return lock.amount - lock.unlockedAmount;
        uint256 cycles = (block.timestamp - lock.tgeDate) / lock.cycle;
        uint256 total = (lock.amount * (lock.tgeBps + cycles * lock.cycleBps)) / 10_000;
        if (total > lock.amount) total = lock.amount;
        return total - lock.unlockedAmount;
    }

    /// What cannot be withdrawn yet, for the tests to compare with.
    function lockedNow(address token) external view returns (uint256 sum) {
        for (uint256 i = 0; i < locks[token].length; i++)
            sum += locks[token][i].amount - locks[token][i].unlockedAmount - withdrawableTokens(token, i);
    }

    function unlock(address token, uint256 id) external {
        uint256 amount = withdrawableTokens(token, id);
        Lock storage lock = locks[token][id];
        lock.unlockedAmount += amount;
        IToken(token).transfer(msg.sender, amount);
        if (lock.tgeBps == 0) emit LockRemoved(id, token, msg.sender, amount, block.timestamp);
        else emit LockVested(id, token, msg.sender, amount, lock.amount - lock.unlockedAmount, block.timestamp);
    }
}

contract PinkLockerV1 {
    struct Lock {
        uint256 id;
        address token;
        address owner;
        uint256 amount;
        uint256 lockDate;
        uint256 unlockDate;
    }

    mapping(address => Lock[]) private locks;

    event LockAdded(uint256 indexed id, address token, address owner, uint256 amount, uint256 unlockDate);

    function totalLockCountForToken(address token) external view returns (uint256) {
        return locks[token].length;
    }

    function getLocksForToken(address token, uint256 start, uint256 end) external view returns (Lock[] memory found) {
        found = new Lock[](end - start + 1);
        for (uint256 i = start; i <= end; i++) found[i - start] = locks[token][i];
    }

    function lock(address token, uint256 amount, uint256 unlockDate) external {
        IToken(token).transferFrom(msg.sender, address(this), amount);
        uint256 id = locks[token].length;
        locks[token].push(Lock(id, token, msg.sender, amount, block.timestamp, unlockDate));
        emit LockAdded(id, token, msg.sender, amount, unlockDate);
    }
}

/// As on Ethereum: it does not list the deposits of a token.
contract TeamLocker {
    struct Deposit_ {
        address token;
        address withdrawalAddress;
        uint256 amount;
        uint256 unlockTime;
        bool withdrawn;
    }

    Deposit_[] internal deposits;
    mapping(address => uint256[]) internal ofToken;

    event Deposit(
        uint256 id,
        address indexed tokenAddress,
        address indexed withdrawalAddress,
        uint256 amount,
        uint256 unlockTime
    );
    event LogTokenWithdrawal(
        uint256 id,
        address indexed tokenAddress,
        address indexed withdrawalAddress,
        uint256 amount
    );

    function lockToken(address token, uint256 amount, uint256 unlockTime) external {
        IToken(token).transferFrom(msg.sender, address(this), amount);
        ofToken[token].push(deposits.length);
        emit Deposit(deposits.length, token, msg.sender, amount, unlockTime);
        deposits.push(Deposit_(token, msg.sender, amount, unlockTime, false));
    }

    function withdrawTokens(uint256 id) external {
        Deposit_ storage deposit = deposits[id];
        require(!deposit.withdrawn && deposit.unlockTime <= block.timestamp, "locked");
        deposit.withdrawn = true;
        IToken(deposit.token).transfer(deposit.withdrawalAddress, deposit.amount);
        emit LogTokenWithdrawal(id, deposit.token, deposit.withdrawalAddress, deposit.amount);
    }

    function getTotalTokenBalance(address token) external view returns (uint256) {
        return IToken(token).balanceOf(address(this));
    }

    function getDepositDetails(uint256 id) external view returns (address, address, uint256, uint256, bool) {
        Deposit_ storage deposit = deposits[id];
        return (deposit.token, deposit.withdrawalAddress, deposit.amount, deposit.unlockTime, deposit.withdrawn);
    }
}

contract TeamLockerListing is TeamLocker {
    function getDepositsByTokenAddress(address token) external view returns (uint256[] memory) {
        return ofToken[token];
    }
}

interface IPositions {
    function transferFrom(address from, address to, uint256 id) external;
}

/// Of positions, as UNCX_LiquidityLocker_UniV3.
contract UncxV3Locker {
    struct Position {
        uint96 nonce;
        address operator;
        address token0;
        address token1;
        uint24 fee;
        int24 tickLower;
        int24 tickUpper;
        uint128 liquidity;
        uint256 feeGrowthInside0LastX128;
        uint256 feeGrowthInside1LastX128;
        uint128 tokensOwed0;
        uint128 tokensOwed1;
    }

    struct Lock {
        uint256 lock_id;
        address nftPositionManager;
        address pool;
        uint256 nft_id;
        address owner;
        address pendingOwner;
        address additionalCollector;
        address collectAddress;
        uint256 unlockDate;
        uint16 countryCode;
        uint256 ucf;
    }

    mapping(uint256 => Lock) private locks;
    uint256 private nonce;

    event onLock(
        uint256 lock_id,
        address nftPositionManager,
        uint256 nft_id,
        address owner,
        address additionalCollector,
        address collectAddress,
        uint256 unlockDate,
        uint16 countryCode,
        uint256 collectFee,
        address poolAddress,
        Position position
    );
    event onWithdraw(uint256 lock_id, address owner, address receiver);
    event onRelock(uint256 lockId, uint256 unlockDate);

    function getLock(uint256 lockId) external view returns (Lock memory) {
        return locks[lockId];
    }

    function lock(address manager, uint256 id, address pool, uint256 unlockDate) external {
        IPositions(manager).transferFrom(msg.sender, address(this), id);
        Lock storage made = locks[nonce];
        made.lock_id = nonce++;
        made.nftPositionManager = manager;
        made.pool = pool;
        made.nft_id = id;
        made.owner = msg.sender;
        made.collectAddress = msg.sender;
        made.unlockDate = unlockDate;
        made.countryCode = 1;
        report(made);
    }

    function report(Lock memory made) private {
        Position memory position;
        emit onLock(
            made.lock_id,
            made.nftPositionManager,
            made.nft_id,
            made.owner,
            made.additionalCollector,
            made.collectAddress,
            made.unlockDate,
            made.countryCode,
            made.ucf,
            made.pool,
            position
        );
    }

    function relock(uint256 lockId, uint256 unlockDate) external {
        require(locks[lockId].owner == msg.sender && unlockDate > locks[lockId].unlockDate, "date");
        locks[lockId].unlockDate = unlockDate;
        emit onRelock(lockId, unlockDate);
    }

    function withdraw(uint256 lockId, address receiver) external {
        Lock memory made = locks[lockId];
        require(made.owner == msg.sender && made.unlockDate < block.timestamp, "locked");
        delete locks[lockId];
        IPositions(made.nftPositionManager).transferFrom(address(this), receiver, made.nft_id);
        emit onWithdraw(lockId, made.owner, receiver);
    }
}

struct V4Key {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct V4Change {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidityDelta;
    bytes32 salt;
}

interface IV4Manager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(V4Key memory key, V4Change memory change, bytes calldata data) external returns (int256, int256);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
}

/// Uniswap's PositionManager of V4, as far as positions of tokens are made, owned and read.
contract V4Positions {
    IV4Manager private immutable manager;
    mapping(uint256 => address) public ownerOf;
    mapping(uint256 => uint128) public getPositionLiquidity;
    mapping(uint256 => uint256) public positionInfo;
    uint256 public nextTokenId = 1;

    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    constructor(address manager_) {
        manager = IV4Manager(manager_);
    }

    function mint(V4Key memory key, int24 lower, int24 upper, uint128 liquidity) external {
        uint256 id = nextTokenId++;
        manager.unlock(abi.encode(key, V4Change(lower, upper, int256(uint256(liquidity)), bytes32(id)), msg.sender));
        ownerOf[id] = msg.sender;
        getPositionLiquidity[id] = liquidity;
        uint256 pool = uint256(keccak256(abi.encode(key))) & ~uint256(type(uint56).max);
        positionInfo[id] = pool | (uint256(uint24(upper)) << 32) | (uint256(uint24(lower)) << 8);
        emit Transfer(address(0), msg.sender, id);
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (V4Key memory key, V4Change memory change, address payer) = abi.decode(data, (V4Key, V4Change, address));
        (int256 delta, ) = manager.modifyLiquidity(key, change, "");
        pay(key.currency0, payer, delta >> 128);
        pay(key.currency1, payer, int256(int128(delta)));
        return "";
    }

    function pay(address currency, address payer, int256 delta) private {
        if (delta >= 0) return;
        manager.sync(currency);
        IToken(currency).transferFrom(payer, address(manager), uint256(-delta));
        manager.settle();
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(ownerOf[id] == from, "owner");
        ownerOf[id] = to;
        emit Transfer(from, to, id);
    }
}

/// Of positions of V4: its event is all that is public.
contract UncxV4Locker {
    struct Lock {
        address owner;
        address manager;
        uint256 id;
        uint256 unlockTime;
    }

    Lock[] private locks;

    event LiquidityLocked(
        uint256 indexed lockId,
        address indexed owner,
        address positionManager,
        uint256 tokenId,
        bytes32 indexed poolId,
        uint256 amount,
        uint256 unlockTime
    );

    function lock(address manager, uint256 id, bytes32 poolId, uint256 unlockTime) external {
        IPositions(manager).transferFrom(msg.sender, address(this), id);
        emit LiquidityLocked(locks.length, msg.sender, manager, id, poolId, 1, unlockTime);
        locks.push(Lock(msg.sender, manager, id, unlockTime));
    }

    function withdraw(uint256 lockId) external {
        Lock memory made = locks[lockId];
        require(made.owner == msg.sender && made.unlockTime < block.timestamp, "locked");
        IPositions(made.manager).transferFrom(address(this), msg.sender, made.id);
    }
}
